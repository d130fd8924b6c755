/** A proxy that gives each request to the next of several ports, and to another one only if nobody listens there. */
import { once } from 'node:events';
import * as http from 'node:http';
import { text } from 'node:stream/consumers';

export async function startRoundRobin(host) {
  let turn = 0;
  const pass = (request, body, response, [port, ...others]) => {
    if (port === undefined) return void response.writeHead(503).end();
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
    on.on('error', (error) => {
      if (error.code === 'ECONNREFUSED') pass(request, body, response, others);
      else response.destroy();
    });
    response.once('close', () => on.destroy());
    on.end(body);
  };
  const front = {
    ports: [],
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  const server = http.createServer((request, response) => {
    turn += 1;
    const first = turn % front.ports.length;
    const places = [...front.ports.slice(first), ...front.ports.slice(0, first)];
    text(request).then(
      (body) => pass(request, body, response, places),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  front.url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);
  return front;
}
