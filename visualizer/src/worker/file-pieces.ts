/** A file in pieces. Each piece is read while the previous one is processed. */

/** Size in bytes. */
const PIECE = 4 * 1_024 * 1_024;

/** Rejects if the file cannot be read. */
export async function* piecesOf(
  file: Blob,
  size = PIECE,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const read = (start: number): Promise<ArrayBuffer> => {
    const piece = file.slice(start, start + size).arrayBuffer();
    // The caller may have stopped reading.
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
