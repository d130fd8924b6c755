/** A proxy that gives each request to the next of several ports, and to another one only if nobody listens there. */
import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RoundRobin {
  readonly url: URL;
  ports: readonly number[];
  close(): Promise<void>;
}

export async function startRoundRobin(host: string): Promise<RoundRobin> {
  let turn = 0;
  const front: { ports: readonly number[] } = { ports: [] };
  const pass = (
    request: http.IncomingMessage,
    body: string,
    response: http.ServerResponse,
    tries: number,
  ): void => {
    turn += 1;
    const port = front.ports[turn % front.ports.length];
    if (port === undefined || tries > front.ports.length) return void response.writeHead(502).end();
    const { method, url, headers } = request;
    const on = http.request(
      { host: '127.0.0.1', port, method, path: url, headers: { ...headers, host }, agent: false },
      (reply) => {
        response.writeHead(reply.statusCode ?? 0, reply.headers);
        response.flushHeaders();
        reply.pipe(response);
        reply.once('close', () => reply.complete || response.destroy());
      },
    );
    on.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') pass(request, body, response, tries + 1);
      else response.destroy();
    });
    response.once('close', () => on.destroy());
    on.end(body);
  };
  const server = http.createServer((request, response) => {
    void text(request).then((body) => pass(request, body, response, 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    get ports() {
      return front.ports;
    },
    set ports(ports) {
      front.ports = ports;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
