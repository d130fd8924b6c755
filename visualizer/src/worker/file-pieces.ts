/** A file in pieces. The next one is read while somebody works on the one before. */

/** In bytes. */
const PIECE = 4 * 1_024 * 1_024;

/** Rejects where the file cannot be read. */
export async function* piecesOf(file: Blob, size = PIECE): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const read = (start: number): Promise<ArrayBuffer> => {
    const piece = file.slice(start, start + size).arrayBuffer();
    // Nobody may come for it any more.
    piece.catch(() => {});
    return piece;
  };
  let next = read(0);
  for (let start = 0; start < file.size; start += size) {
    const piece = next;
    next = read(start + size);
    yield new Uint8Array(await piece);
  }
}
