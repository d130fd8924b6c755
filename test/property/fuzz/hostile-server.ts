/** A server that replies with any bytes, which need not be HTTP. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The bytes that are written to the socket of one request before the socket closes. */
export type Reply = (body: string) => Buffer;

export interface HostileServer {
  readonly url: string;
  /** Replies to the next requests, in order. For further requests, it closes the socket. */
  replies: Reply[];
  /** Resolves when the last socket has closed. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export async function startHostileServer(): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  let onIdle = (): void => {};
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) onIdle();
    });
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk;
      const body = bodyOf(received);
      if (body === undefined) return;
      received = '';
      const reply = hostile.replies.shift();
      if (reply === undefined) socket.destroy();
      else socket.end(reply(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hostile: HostileServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    replies: [],
    idle: () =>
      new Promise((resolve) => {
        onIdle = resolve;
        if (sockets.size === 0) resolve();
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return hostile;
}

/** Undefined until the request is complete. */
function bodyOf(received: string): string | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const length = Number(/^content-length: *(\d+)/im.exec(received)?.[1] ?? 0);
  const body = received.slice(end + 4);
  return body.length < length ? undefined : body;
}
