/** How a session ends: by the server, because the server is gone, or by the client; and that nothing is left. */
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../../machines/policy/failure.js';
import type { TransportError } from '../../../../src/failures/transport-error.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE, notification, open, request } from '../../../support/session-record.js';
import {
  event,
  mcp,
  openStream,
  refuse,
  startServer,
  type Handler,
  type Seen,
} from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const isGet = ({ method }: Seen): boolean => method === 'GET';
const isDelete = ({ method }: Seen): boolean => method === 'DELETE';
const hang: Handler = (_seen, res) => void res.on('close', () => {});
const keepOpen: Handler = (_seen, res) => void openStream(res);
const GONE = refuse(
  404,
  JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } }),
);

describe('A session that the server no longer knows', () => {
  it('ends: the request is rejected as not executed, and onclose comes after that', async () => {
    const { server, transport, recorded } = await connect(mcp({ sessionId: 's-1', request: GONE }));
    await open(transport);
    const order: string[] = [];
    const rejected = transport.send(request(1, 'tools/call')).catch((error: unknown) => {
      order.push('rejected');
      return error as TransportError;
    });
    void recorded.closed.then(() => order.push('closed'));
    const error = await rejected;
    await recorded.closed;
    expect(order).toEqual(['rejected', 'closed']);
    expect((error as TransportError).written).toBe(false);
    expect(transport.ended).toMatchObject({ code: 'session-expired', http: { status: 404 } });
    expect(transport.ended?.message).toContain('Session not found');
    expect(classify({ ...transport.ended!, phase: 'session', at: 0 })).toBe('renew');
    await transport.close();
    expect(recorded.closes).toBe(1);
    expect(server.seen.filter(isDelete)).toHaveLength(0);
  });

  it('waits for the other requests in flight to be refused, too', async () => {
    const held: (() => void)[] = [];
    const { server, transport, recorded } = await connect(
      mcp({ sessionId: 's-1', request: (seen, res) => void held.push(() => GONE(seen, res)) }),
    );
    await open(transport);
    const sends = [1, 2, 3].map((id) => failureOf(transport.send(request(id, 'tools/call'))));
    await server.arrived(({ rpc }) => rpc.method === 'tools/call', 3);
    held[0]?.();
    await Promise.race(sends);
    expect(recorded.closes).toBe(0);
    expect(await failureOf(transport.send(request(4, 'tools/call')))).toMatchObject({ written: false });
    for (const release of held.slice(1)) release();
    const errors = await Promise.all(sends);
    expect(errors.map(({ written }) => written)).toEqual([false, false, false]);
    await recorded.closed;
    expect(server.seen.filter(({ rpc }) => rpc.id === 4)).toHaveLength(0);
  });

  it('waits for them no longer than two seconds', async () => {
    const { server, clock, transport, recorded } = await connect(
      mcp({ sessionId: 's-1', request: (seen, res) => (seen.rpc.id === 1 ? hang : GONE)(seen, res) }),
    );
    await open(transport);
    const stuck = failureOf(transport.send(request(1, 'tools/call')));
    await server.arrived(({ rpc }) => rpc.id === 1);
    await failureOf(transport.send(request(2, 'tools/call')));
    await clock.whenSet(2_000);
    await clock.advance(2_000);
    expect(await stuck).toMatchObject({ written: true, failure: { code: 'session-expired' } });
    await recorded.closed;
    expect(clock.pending).toEqual([]);
  });

  it.each([404, 400])(
    'is noticed without a call if the listening stream cannot be reopened (%i)',
    async (status) => {
      let streams = 0;
      const { clock, transport, recorded } = await connect(
        mcp({
          sessionId: 's-1',
          listen: (seen, res) => {
            streams += 1;
            if (streams === 1) openStream(res).end();
            else refuse(status)(seen, res);
          },
        }),
      );
      await open(transport);
      await clock.whenSet(1_000);
      await clock.advance(1_000);
      await recorded.closed;
      expect(transport.ended).toMatchObject({ code: 'session-expired' });
    },
  );

  it('is noticed even if the server had delayed the reply to the first GET', async () => {
    const held: (() => void)[] = [];
    const { server, clock, transport, recorded } = await connect(
      mcp({
        sessionId: 's-1',
        listen: (seen, res) => {
          if (held.length > 0) GONE(seen, res);
          else held.push(() => res.destroy());
        },
      }),
    );
    await open(transport);
    await server.arrived(isGet);
    held[0]?.();
    await clock.whenSet(1_000);
    await clock.advance(1_000);
    await recorded.closed;
    expect(transport.ended).toMatchObject({ code: 'session-expired' });
  });

  it('without a session id is only a refused request', async () => {
    const { transport } = await connect(mcp({ request: refuse(404) }));
    await open(transport);
    expect((await failureOf(transport.send(request(1, 'tools/call')))).failure.code).toBe('http-status');
    expect(transport.ended).toBeUndefined();
  });

  it('settles a request whose stream cannot be resumed any more', async () => {
    const { clock, transport, recorded } = await connect(
      mcp({
        sessionId: 's-1',
        request: (_seen, res) => void openStream(res).end('id: ev-1\nretry: 100\ndata:\n\n'),
        listen: (seen, res) => (seen.headers['last-event-id'] === undefined ? refuse(405) : GONE)(seen, res),
      }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await clock.whenSet(100);
    await clock.advance(100);
    await recorded.closed;
    expect(recorded.lost).toMatchObject([{ id: 1, failure: { code: 'session-expired' } }]);
    expect(transport.ended).toMatchObject({ code: 'session-expired' });
  });
});

describe('A server that disappears', () => {
  it('is noticed without a call: the stream breaks and cannot be reopened twice', async () => {
    const { server, clock, transport, recorded } = await connect(
      mcp({ sessionId: 's-1', listen: (_seen, res) => void openStream(res) }),
    );
    await open(transport);
    await server.arrived(isGet);
    await server.close();
    for (const [index, ms] of [1_000, 1_500].entries()) {
      await clock.whenSet(ms);
      await clock.advance(ms);
      await recorded.until(() => recorded.unreachable.length === index + 1);
    }
    expect(recorded.unreachable.map(({ count }) => count)).toEqual([1, 2]);
    const failure = recorded.unreachable[1]?.failure;
    expect(failure).toMatchObject({ code: 'connection-lost' });
    expect(failure?.message).toMatch(/127\.0\.0\.1:\d+.*ECONNREFUSED/);
    expect(transport.ended).toBeUndefined();
    await transport.kill();
    expect(clock.pending).toEqual([]);
  });

  it('is noticed by two calls that cannot connect, after each has been rejected', async () => {
    const { server, clock, transport, recorded } = await connect((seen, res) => {
      res.setHeader('connection', 'close');
      mcp({ sessionId: 's-1' })(seen, res);
    });
    await open(transport);
    await recorded.until(() => recorded.notices.length > 0);
    await server.close();
    const first = await failureOf(transport.send(request(1, 'tools/call')));
    expect(first).toMatchObject({ written: false, failure: { code: 'address-refused' } });
    await clock.advance(0);
    await failureOf(transport.send(request(2, 'tools/call')));
    // If the session ends now, the second call must not count as sent.
    expect(recorded.unreachable.map(({ count }) => count)).toEqual([1]);
    await clock.advance(0);
    expect(recorded.unreachable.map(({ count }) => count)).toEqual([1, 2]);
    expect(transport.ended).toBeUndefined();
    await transport.kill();
  });

  it('has received no call that could not connect', async () => {
    const { server, clock, transport, recorded } = await connect((seen, res) => {
      res.setHeader('connection', 'close');
      mcp({ sessionId: 's-1' })(seen, res);
    });
    await open(transport);
    await recorded.until(() => recorded.notices.length > 0);
    await server.close();
    const failures = await Promise.all(
      Array.from({ length: 10 }, (_, i) => failureOf(transport.send(request(i + 1, 'tools/call')))),
    );
    expect(new Set(failures.map(({ failure }) => failure.code))).toEqual(new Set(['address-refused']));
    await clock.advance(0);
    expect(recorded.unreachable).toHaveLength(10);
    await transport.kill();
    expect(failures.map(({ written }) => written)).toEqual(Array.from({ length: 10 }, () => false));
  });

  it('has no effect on the session if it comes back in time', async () => {
    const handle = mcp({
      listen: (_seen, res) =>
        void openStream(res).write(event({ jsonrpc: '2.0', method: 'notifications/hello' })),
    });
    const { server, clock, transport, recorded } = await connect(handle);
    await open(transport);
    await recorded.until(() => recorded.messages.length === 2);
    await server.close();
    await clock.whenSet(1_000);
    await clock.advance(1_000);
    await clock.whenSet(1_500);
    const again = await startServer(handle, Number(new URL(server.url).port));
    await clock.advance(1_500);
    await recorded.until(() => recorded.messages.length === 3);
    expect(transport.ended).toBeUndefined();
    await transport.kill();
    await again.close();
  });
});

describe('close()', () => {
  it('deletes the session, closes every socket and fires onclose once', async () => {
    const { server, clock, transport, recorded } = await connect(
      mcp({ sessionId: 's-1', listen: (_seen, res) => void openStream(res) }),
    );
    await open(transport);
    await server.arrived(isGet);
    await Promise.all([transport.close(), transport.close()]);
    await transport.close();
    expect(recorded.closes).toBe(1);
    expect(transport.ended).toBeUndefined();
    expect(server.seen.filter(isDelete).map(({ headers }) => headers['mcp-session-id'])).toEqual(['s-1']);
    await server.idle();
    expect(clock.pending).toEqual([]);
  });

  it('sends no DELETE if there is no session', async () => {
    const { server, transport } = await connect(mcp());
    await open(transport);
    await transport.close();
    expect(server.seen.filter(isDelete)).toHaveLength(0);
  });

  it.each([405, 404])('accepts %i as the reply to the DELETE', async (status) => {
    const { transport, recorded } = await connect(mcp({ sessionId: 's-1', remove: refuse(status) }));
    await open(transport);
    await recorded.until(() => recorded.notices.length === 1);
    await transport.close();
    expect(recorded.notices.map(({ kind }) => kind)).toEqual(['no-listening-stream']);
  });

  it('reports a DELETE that fails only as a notice', async () => {
    const { transport, recorded } = await connect(
      mcp({ sessionId: 's-1', remove: refuse(500, 'harbour closed') }),
    );
    await open(transport);
    await transport.close();
    const notice = recorded.notices.find(({ kind }) => kind === 'session-delete-failed');
    expect(notice?.message).toContain('harbour closed');
    expect(recorded.closes).toBe(1);
  });

  it('waits for a DELETE no longer than allowed', async () => {
    const { server, clock, transport, recorded } = await connect(mcp({ sessionId: 's-1', remove: hang }));
    await open(transport);
    const closing = transport.close();
    await server.arrived(isDelete);
    await clock.advance(999);
    expect(recorded.closes).toBe(0);
    await clock.advance(1);
    await closing;
    expect(recorded.notices.map(({ kind }) => kind)).toContain('session-delete-failed');
    await server.idle();
  });

  it('is sped up by kill()', async () => {
    const { server, transport, recorded } = await connect(mcp({ sessionId: 's-1', remove: hang }));
    await open(transport);
    const closing = transport.close();
    await server.arrived(isDelete);
    await transport.kill();
    await closing;
    expect(recorded.closes).toBe(1);
    await server.idle();
  });

  it('rejects waiting requests, and aborts open streams without a report', async () => {
    const { server, transport, recorded } = await connect(
      mcp({
        sessionId: 's-1',
        request: (seen, res) => (seen.rpc.id === 1 ? hang : keepOpen)(seen, res),
      }),
    );
    await open(transport);
    const waiting = failureOf(transport.send(request(1, 'tools/call')));
    await transport.send(request(2, 'tools/call'));
    await server.arrived(({ rpc }) => rpc.id === 1);
    await transport.close();
    expect(await waiting).toMatchObject({ written: true, failure: { code: 'connection-lost' } });
    expect(recorded.lost).toEqual([]);
    await server.idle();
  });

  it('distinguishes messages that were never sent from those that may have arrived', async () => {
    const { server, transport } = await connect(mcp({ request: hang }));
    await open(transport);
    const arrived = failureOf(transport.send(request(1, 'tools/call')));
    await server.arrived(({ rpc }) => rpc.id === 1);

    const deaf = createServer();
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(deaf.address() as AddressInfo).port}`;
    const { transport: shut } = await connect(mcp(), { url });
    const knocked = new Promise((resolve) => deaf.once('connection', resolve));
    await shut.start();
    const never = failureOf(shut.send(INITIALIZE));
    await knocked;
    await Promise.all([transport.close(), shut.close()]);
    await new Promise((resolve) => deaf.close(resolve));

    expect(await arrived).toMatchObject({ written: true, failure: { code: 'connection-lost' } });
    expect(await never).toMatchObject({ written: false, failure: { code: 'connection-lost' } });
  });

  it('ends delays, too', async () => {
    const { clock, transport } = await connect(
      mcp({
        listen: (_seen, res) => void openStream(res).end(),
        request: (_seen, res) => void openStream(res).end('id: ev-1\nretry: 300\ndata:\n\n'),
      }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await clock.whenSet(1_000);
    await clock.whenSet(300);
    await transport.close();
    expect(clock.pending).toEqual([]);
  });

  it('is not blocked by a reply that nobody reads', async () => {
    const endless: Handler = (_seen, res) => void res.writeHead(202).write('...');
    const { server, transport, recorded } = await connect(
      mcp({ accept: endless, remove: endless, sessionId: 's-1' }),
    );
    await open(transport);
    await transport.close();
    expect(recorded.closes).toBe(1);
    await server.idle();
  });

  it('works on a transport that was never started', async () => {
    const { server, transport, recorded } = await connect(mcp());
    await transport.close();
    expect(recorded.closes).toBe(1);
    expect((await failureOf(transport.start())).failure.code).toBe('connection-lost');
    expect(server.seen).toEqual([]);
  });

  it('works if callbacks throw', async () => {
    const { transport } = await connect(
      mcp({ sessionId: 's-1', listen: (_seen, res) => void openStream(res) }),
    );
    const reported: string[] = [];
    const bad = (): never => {
      throw new Error('host bug');
    };
    Object.assign(transport, {
      onmessage: bad,
      onclose: bad,
      onactivity: bad,
      onnotice: bad,
      onerror: (error: Error) => reported.push(error.message),
    });
    await open(transport);
    await transport.close();
    expect(new Set(reported)).toEqual(new Set(['host bug']));
  });
});

describe('kill()', () => {
  it('sends no DELETE and leaves nothing', async () => {
    const { server, transport, recorded } = await connect(
      mcp({ sessionId: 's-1', listen: (_seen, res) => void openStream(res) }),
    );
    await open(transport);
    await server.arrived(isGet);
    await transport.kill();
    expect(server.seen.filter(isDelete)).toHaveLength(0);
    expect(recorded.closes).toBe(1);
    await server.idle();
  });

  it('ends a connection attempt that never succeeds', async () => {
    const { transport } = await connect(hang);
    await transport.start();
    const stuck = failureOf(transport.send(notification('notifications/x')));
    await transport.kill();
    expect((await stuck).failure.code).toBe('connection-lost');
  });
});

describe('A request that breaks', () => {
  it('raises a suspicion, unless the caller aborted it', async () => {
    const ways: Record<string, Handler> = { cut: (_seen, res) => void res.destroy(), refuse: refuse(503) };
    const { transport } = await connect(
      mcp({
        sessionId: 's-1',
        request: (seen, res) => (ways[seen.rpc.method ?? ''] ?? hang)(seen, res),
      }),
    );
    let doubts = 0;
    transport.onsuspect = () => (doubts += 1);
    await open(transport);
    expect(await failureOf(transport.send(request(1, 'cut')))).toMatchObject({ written: true });
    expect(doubts).toBe(1);
    expect(await failureOf(transport.send(request(3, 'refuse')))).toMatchObject({ written: true });
    expect(doubts).toBe(2);
    const given = failureOf(transport.send(request(2, 'tools/call')));
    await transport.close();
    await given;
    expect(doubts).toBe(2);
  });

  it.each<[string, Handler]>([
    ['gets 502 from a gateway', refuse(502)],
    ['breaks', (_seen, res) => void res.destroy()],
    ['is answered with a stream that ends empty', (_seen, res) => void openStream(res).end()],
  ])('raises no suspicion if it is a ping that %s', async (_title, treat) => {
    const { transport, recorded } = await connect(mcp({ request: treat }));
    await open(transport);
    await transport.send(request(1, 'ping')).then(
      () => recorded.until(() => recorded.lost.length > 0),
      () => undefined,
    );
    expect(recorded.messages).toHaveLength(1);
    expect(recorded.doubts).toBe(0);
  });
});
