/** A proxy of a test: leads every host to a port of this computer, and writes down what it was asked for. */
import * as http from 'node:http';
import * as net from 'node:net';

export interface TestProxy {
  readonly host: string;
  /** Hosts and ports that it was asked for; a tunnel with `CONNECT` before it. */
  readonly asked: string[];
  /** The latest `Proxy-Authorization`. */
  authorization: string | undefined;
  /** Answers every request with this status instead. */
  status: number | undefined;
  /** Accepts connections and answers nothing. */
  isSilent: boolean;
  /** Sockets that are open now. */
  readonly sockets: ReadonlySet<net.Socket>;
  close(): Promise<void>;
}

export async function startProxy(port: () => number): Promise<TestProxy> {
  const sockets = new Set<net.Socket>();
  const server = http.createServer((req, res) => {
    const { host, pathname, search } = new URL(req.url ?? '');
    note(host, req);
    if (proxy.isSilent) return;
    if (proxy.status !== undefined) return void res.writeHead(proxy.status).end('no way');
    const { 'proxy-authorization': _, ...headers } = req.headers;
    const on = http.request(
      { host: '127.0.0.1', port: port(), method: req.method, path: pathname + search, headers, agent: false },
      (reply) => {
        res.writeHead(reply.statusCode ?? 0, reply.headers);
        reply.pipe(res);
      },
    );
    on.on('error', () => res.destroy());
    res.on('close', () => on.destroy());
    req.pipe(on);
  });
  server.on('connect', (req: http.IncomingMessage, socket: net.Socket, head: Buffer) => {
    note(`CONNECT ${req.url}`, req);
    socket.on('error', () => {});
    if (proxy.isSilent) return void socket.resume().once('end', () => socket.end());
    if (proxy.status !== undefined) return void socket.end(`HTTP/1.1 ${proxy.status} No\r\n\r\n`);
    const on = net.connect(port(), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      on.write(head);
      on.pipe(socket).pipe(on);
    });
    on.on('error', () => socket.destroy());
    socket.on('close', () => on.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const note = (what: string, { headers }: http.IncomingMessage): void => {
    proxy.asked.push(what);
    proxy.authorization = headers['proxy-authorization'];
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: TestProxy = {
    host: `127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    asked: [],
    authorization: undefined,
    status: undefined,
    isSilent: false,
    sockets,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return proxy;
}
