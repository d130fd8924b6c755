/** The limits of Troupe's own HTTP servers: on the body of a request, and on connections. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

// Reads the body of a request, up to a limit.

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

// Limits the connections of an HTTP server, so that connections without an admitted request cannot keep others out.
//
// L1. If the server is full, the oldest connection without an admitted request is closed for the new one. If every other
//     connection has had one, the new one is closed.
// L2. A connection that sends no complete header is closed after `HEADER_LIMITS`.

/** Options of `createServer`: how long the headers of a request may take, and how often that is checked, milliseconds. */
export const HEADER_LIMITS = { headersTimeout: 5_000, connectionsCheckingInterval: 2_000 } as const;

/** Limits a server. Call the result with each connection that has had an admitted request. */
export function limitConnections(server: Server, most: number): (admitted: Socket) => void {
  /** The connections without an admitted request, the oldest first. */
  const strangers = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    strangers.add(socket);
    socket.once('close', () => {
      open -= 1;
      strangers.delete(socket);
    });
    if (open <= most) return;
    const [oldest = socket] = strangers;
    // It counts until it is closed, but is closed only once.
    strangers.delete(oldest);
    oldest.destroy();
  });
  return (admitted) => void strangers.delete(admitted);
}
