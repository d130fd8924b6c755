/** Reading a whole body as text, with a limit. */

/** The body has more bytes than the limit. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Rejects with `BodyTooLarge`, or with whatever cut the body. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onChunk: () => void,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    onChunk();
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
