/** Servers that close a keep-alive socket after a reply, just as the next request is sent on it. */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, open, request } from '../../../support/session-record.js';
import { echo, mcp, result, type Handler, type Seen } from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const isMethod =
  (method: string) =>
  ({ rpc }: Seen): boolean =>
    rpc.method === method;

/** Resets a socket on which a second request of that kind arrives. */
function closing(inner: Handler, isStale: (seen: Seen) => boolean): Handler {
  const used = new WeakSet<Socket>();
  return (seen, res) => {
    const socket = res.socket!;
    if (used.has(socket) && isStale(seen)) return void socket.resetAndDestroy();
    used.add(socket);
    inner(seen, res);
  };
}

describe('A server that serves one request per socket without announcing it', () => {
  it('can be used, and gets every call once', async () => {
    const { server, transport, recorded } = await connect(closing(mcp({ sessionId: 's-1' }), () => true));
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    for (const id of [2, 3, 4]) await transport.send(request(id, 'tools/call'));
    await transport.close();
    expect(recorded.messages.slice(1)).toEqual([
      result(1, { method: 'tools/list' }),
      ...[2, 3, 4].map((id) => result(id, { method: 'tools/call' })),
    ]);
    expect(server.seen.filter(isMethod('tools/call'))).toHaveLength(3);
    expect(recorded).toMatchObject({ doubts: 0, lost: [] });
    expect(recorded.notices.map(({ kind }) => kind)).not.toContain('session-delete-failed');
    await server.idle();
  });
});

describe('A socket that was idle while the machine slept', () => {
  it('carries no call, however short the machine was awake', async () => {
    const sockets: (Socket | null)[] = [];
    const note: Handler = (seen, res) => {
      sockets.push(res.socket);
      echo(seen, res);
    };
    const { clock, transport } = await connect(mcp({ request: note }));
    await open(transport);
    for (const [id, idleMs] of [0, 3_999, 4_000, 3_600_000].entries()) {
      await clock.advance(idleMs);
      await transport.send(request(id + 1, 'tools/call'));
    }
    const [first, second, third, fourth] = sockets;
    expect(second).toBe(first);
    expect(new Set([second, third, fourth]).size).toBe(3);
  });
});

describe('A socket that is closed just as a request is sent on it', () => {
  it('makes the outcome of a call unknown: the call is never sent twice', async () => {
    const { server, transport, recorded } = await connect(closing(mcp(), isMethod('tools/call')));
    await open(transport);
    await transport.send(request(9, 'prompts/list'));
    const error = await failureOf(transport.send(request(1, 'tools/call')));
    expect(error).toMatchObject({ written: true, failure: { code: 'connection-lost' } });
    expect(server.seen.filter(isMethod('tools/call'))).toHaveLength(1);
    expect(recorded.doubts).toBe(1);
  });

  it.each(['ping', 'tools/list', 'notifications/initialized'])(
    'has no effect on a request that can be repeated: %s',
    async (method) => {
      const { server, transport, recorded } = await connect(closing(mcp(), isMethod(method)));
      await open(transport);
      await transport.send(request(9, 'prompts/list'));
      await transport.send(request(1, 'ping'));
      await transport.send(request(2, 'tools/list'));
      await transport.send(request(3, 'tools/call'));
      expect(recorded.messages).toHaveLength(5);
      expect(server.seen.filter(isMethod(method))).toHaveLength(2);
      expect(recorded.doubts).toBe(0);
    },
  );

  it('raises a suspicion if the server disappears with it', async () => {
    const { server, transport, recorded } = await connect(
      mcp({ request: (seen, res) => (isMethod('tools/list')(seen) ? undefined : echo(seen, res)) }),
    );
    await open(transport);
    await transport.send(request(9, 'prompts/list'));
    const listed = failureOf(transport.send(request(1, 'tools/list')));
    await server.arrived(isMethod('tools/list'));
    await server.close();
    expect((await listed).failure.code).toBe('connection-lost');
    expect(recorded.doubts).toBe(1);
  });

  it('is not the reason if a new one breaks as well', async () => {
    let pings = 0;
    const { transport } = await connect(
      mcp({
        request: (seen, res) => {
          if (seen.rpc.method !== 'ping') return echo(seen, res);
          pings += 1;
          res.destroy();
        },
      }),
    );
    await open(transport);
    await transport.send(request(9, 'prompts/list'));
    const error = await failureOf(transport.send(request(1, 'ping')));
    expect(error.failure.code).toBe('connection-lost');
    expect(pings).toBe(2);
  });
});
