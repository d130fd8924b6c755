import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { limitConnections } from '../../../../src/transports/http/server-limits.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

async function limited(most: number) {
  const server = createServer();
  const admit = limitConnections(server, most);
  server.on('request', (request, response) => {
    if (request.url === '/admitted') admit(request.socket);
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const open = async (path?: string): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
    if (path === undefined) return socket;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(socket, 'data');
    return socket;
  };
  return { open };
}

const isClosed = async (socket: Socket): Promise<boolean> => {
  if (!socket.closed) await once(socket.resume(), 'close');
  return socket.destroyed;
};

describe('a server that is full', () => {
  it('closes the oldest connection without an admitted request for a new one', async () => {
    const { open } = await limited(3);
    const [admitted, silent, refused] = [await open('/admitted'), await open(), await open('/other')];
    const next = await open('/admitted');
    expect(await isClosed(silent)).toBe(true);
    const last = await open('/admitted');
    expect(await isClosed(refused)).toBe(true);
    expect([admitted, next, last].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  });

  it('closes the new one if every connection has had an admitted request', async () => {
    const { open } = await limited(2);
    const kept = [await open('/admitted'), await open('/admitted')];
    expect(await isClosed(await open())).toBe(true);
    expect(kept.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  });

  it('has room again after a connection has ended', async () => {
    const { open } = await limited(1);
    const first = await open('/admitted');
    first.end();
    await isClosed(first);
    expect((await open('/admitted')).destroyed).toBe(false);
  });
});
