/** The body of a request that is short, or it is not read. */
import type { IncomingMessage } from 'node:http';

/** As `readBytes`, as text. */
export async function readBody(request: IncomingMessage, most: number): Promise<string | undefined> {
  return (await readBytes(request, most))?.toString();
}

/** Undefined where it is longer than so many bytes. Rejects where the request breaks off. */
export async function readBytes(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > most) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  // Left without being destroyed: the refusal has to be sent over the same socket.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > most) return undefined;
  }
  return Buffer.concat(chunks);
}
