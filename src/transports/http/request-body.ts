/** Reads the body of a request, up to a limit. */
import type { IncomingMessage } from 'node:http';

/** As `readBytes`, but gives text. */
export async function readBody(request: IncomingMessage, most: number): Promise<string | undefined> {
  return (await readBytes(request, most))?.toString();
}

/** Undefined if the body has more than `most` bytes. Rejects if the request breaks off. */
export async function readBytes(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > most) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  // The request is not destroyed: the refusal must be sent over the same socket.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > most) return undefined;
  }
  return Buffer.concat(chunks);
}
