/** The event stream that answers one request: resumed if possible, otherwise lost at once. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { describe, expect, it } from 'vitest';
import { MESSAGE_TOO_LARGE } from '../../../../src/transports/message-limits.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, notification, open, request } from '../../../support/session-record.js';
import {
  answer,
  event,
  mcp,
  openStream,
  refuse,
  result,
  type Handler,
} from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const isResume = ({ method, headers }: { method: string; headers: Record<string, unknown> }): boolean =>
  method === 'GET' && headers['last-event-id'] !== undefined;

/** GET with `Last-Event-ID` goes to `resume`; any other GET gets 405. */
const resumable = (post: Handler, resume: Handler): Handler =>
  mcp({ request: post, listen: (seen, res) => (isResume(seen) ? resume : refuse(405))(seen, res) });

const primed: Handler = (_seen, res) => void openStream(res).end('id: ev-1\nretry: 200\ndata:\n\n');

describe('A stream that ends before the answer', () => {
  it('is resumed after the delay that the server sets, and the answer arrives once', async () => {
    const { server, clock, transport, recorded } = await connect(
      resumable(primed, (_seen, res) => {
        const text = event(result(1, { late: true }), 'ev-2');
        openStream(res).end(text + text);
      }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await clock.whenSet(200);
    expect(server.seen.some(isResume)).toBe(false);
    await clock.advance(200);
    expect(await recorded.answerTo(1)).toEqual(result(1, { late: true }));

    const [resume] = await server.arrived(isResume);
    expect(resume?.headers).toMatchObject({ 'last-event-id': 'ev-1', accept: 'text/event-stream' });
    await transport.send(request(2, 'ping'));
    await clock.whenSet(200);
    expect(recorded.messages.filter((message) => 'id' in message && message.id === 1)).toHaveLength(1);
    expect(recorded.lost).toEqual([]);
  });

  it('is resumed even if the socket was cut', async () => {
    const { clock, transport, recorded } = await connect(
      resumable(
        (_seen, res) => {
          openStream(res).write('id: ev-1\ndata:\n\n', () => res.destroy());
        },
        (_seen, res) => void openStream(res).end(event(result(1, {}))),
      ),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await clock.whenSet(1_000);
    await clock.advance(1_000);
    await recorded.answerTo(1);
    expect(recorded.lost).toEqual([]);
  });

  it('is resumed from the last event of every part', async () => {
    let part = 1;
    const { server, clock, transport, recorded } = await connect(
      resumable(primed, (_seen, res) => {
        part += 1;
        const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { part } };
        openStream(res).end(part < 9 ? event(progress, `ev-${part}`) : event(result(1, {})));
      }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    for (let n = 1; n < 9; n += 1) {
      await clock.whenSet(200);
      await clock.advance(200);
      await server.arrived(isResume, n);
    }
    await recorded.answerTo(1);
    expect(server.seen.filter(isResume).map(({ headers }) => headers['last-event-id'])).toEqual(
      Array.from({ length: 8 }, (_, i) => `ev-${i + 1}`),
    );
  });

  it('is requested more and more slowly while each part is empty', async () => {
    let part = 1;
    const { server, clock, transport, recorded } = await connect(
      resumable(
        (_seen, res) => void openStream(res).end('id: ev-1\nretry: 0\ndata:\n\n'),
        (_seen, res) => {
          part += 1;
          const end = part < 14 ? 'data:\n\n' : `data: ${JSON.stringify(result(1, {}))}\n\n`;
          openStream(res).end(`id: ev-${part}\nretry: 0\n${end}`);
        },
      ),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    for (let n = 0; n < 13; n += 1) {
      const ms = Math.min(100 * 1.5 ** n, 5_000);
      await clock.whenSet(ms);
      await clock.advance(ms);
    }
    await recorded.answerTo(1);
    expect(server.seen.filter(isResume)).toHaveLength(13);
    expect(recorded.lost).toEqual([]);
  });

  it('is requested again no sooner than after 100 ms, even if messages arrive', async () => {
    let part = 1;
    const { server, clock, transport, recorded } = await connect(
      resumable(
        (_seen, res) => void openStream(res).end('id: ev-1\nretry: 0\ndata:\n\n'),
        (_seen, res) => {
          part += 1;
          const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { part } };
          openStream(res).end(part < 9 ? event(progress, `ev-${part}`) : event(result(1, {})));
        },
      ),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    for (let n = 1; n < 9; n += 1) {
      await clock.whenSet(100);
      await clock.advance(100);
      await server.arrived(isResume, n);
    }
    await recorded.answerTo(1);
    expect(server.seen.filter(isResume)).toHaveLength(8);
  });

  it.each([
    ['an event', 'id: ev-1\nretry: 0\ndata:\n\n'],
    ['a message', `retry: 0\n${event({ jsonrpc: '2.0', method: 'notifications/x' }, 'ev-1')}`],
    [
      'two events from the start, the last one',
      `id: ev-0\nretry: 0\ndata:\n\n${event({ jsonrpc: '2.0', method: 'notifications/x' }, 'ev-1')}`,
    ],
  ])('is lost after five attempts that bring %s with the same id again', async (_, text) => {
    const again: Handler = (_seen, res) => void openStream(res).end(text);
    const { server, clock, transport, recorded } = await connect(resumable(again, again));
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    for (let n = 1; n <= 5; n += 1) {
      await clock.whenSet(n === 1 ? 100 : 1_000 * 1.5 ** (n - 2));
      await clock.advance(5_000);
      await server.arrived(isResume, n);
    }
    await recorded.until(() => recorded.lost.length > 0);
    expect(server.seen.filter(isResume)).toHaveLength(5);
    expect(recorded.lost).toMatchObject([{ id: 1, failure: { code: 'connection-lost' } }]);
  });

  it('is retried with growing delays while the server is not ready, five times at most', async () => {
    const { server, clock, transport, recorded } = await connect(resumable(primed, refuse(503)));
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    for (const ms of [200, 1_000, 1_500, 2_250, 3_375]) {
      await clock.whenSet(ms);
      await clock.advance(ms);
    }
    await recorded.until(() => recorded.lost.length > 0);
    expect(server.seen.filter(isResume)).toHaveLength(5);
    expect(recorded.lost).toMatchObject([{ id: 1, failure: { code: 'connection-lost' } }]);
    expect(transport.ended).toBeUndefined();
  });

  it('is lost if the server refuses to resume it', async () => {
    const { clock, transport, recorded } = await connect(resumable(primed, refuse(400, 'unknown event')));
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await clock.whenSet(200);
    await clock.advance(200);
    await recorded.until(() => recorded.lost.length > 0);
    expect(recorded.lost).toMatchObject([{ id: 1, failure: { code: 'http-status', http: { status: 400 } } }]);
    expect(recorded.doubts).toBe(0);
  });

  it.each<[string, Handler, RegExp]>([
    ['ended', (_seen, res) => void openStream(res).end(': nothing\n\n'), /ended/],
    [
      'was cut',
      (_seen, res) => void openStream(res).write(': nothing\n\n', () => res.destroy()),
      /broke off/,
    ],
  ])('is lost at once if it %s without event ids, and is not requested again', async (_, post, cause) => {
    const { server, clock, transport, recorded } = await connect(mcp({ request: post }));
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await recorded.until(() => recorded.lost.length > 0);
    expect(recorded.lost).toMatchObject([{ id: 1, failure: { code: 'connection-lost' } }]);
    expect(recorded.lost[0]?.failure.message).toMatch(cause);
    expect(recorded.doubts).toBe(1);
    expect(clock.pending).toEqual([]);
    expect(server.seen.filter(isResume)).toHaveLength(0);
  });
});

describe('A stream that has given the answer', () => {
  it('delivers progress that came before the answer in the same chunk', async () => {
    const { transport } = await connect(
      mcp({
        request: (seen, res) => {
          const meta = seen.rpc.params?.['_meta'] as { progressToken: number };
          const params = { progressToken: meta.progressToken, progress: 1 };
          const progress = { jsonrpc: '2.0', method: 'notifications/progress', params };
          openStream(res).end(event(progress) + event(result(seen.rpc.id, { content: [] })));
        },
      }),
    );
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const seen: number[] = [];
    await client.callTool({ name: 'x' }, undefined, {
      onprogress: ({ progress }) => void seen.push(progress),
    });
    expect(seen).toEqual([1]);
    await client.close();
  });

  it('is not resumed if the answer is an error', async () => {
    const { server, clock, transport, recorded } = await connect(
      mcp({
        request: (seen, res) => {
          const error = { jsonrpc: '2.0', id: seen.rpc.id, error: { code: -32_602, message: 'no' } };
          openStream(res).end(`id: ev-1\ndata:\n\n${event(error, 'ev-2')}`);
        },
      }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await recorded.answerTo(1);
    const [call] = await server.arrived(({ rpc }) => rpc.id === 1);
    await call?.over;
    await clock.advance(60_000);
    await transport.send(request(2, 'tools/call'));
    await recorded.answerTo(2);
    expect(server.seen.filter(isResume)).toHaveLength(0);
    expect(recorded.lost).toEqual([]);
  });

  it('is closed after a second if the server keeps it open', async () => {
    const { server, clock, transport, recorded } = await connect(
      mcp({ request: (seen, res) => void openStream(res).write(event(result(seen.rpc.id, {}))) }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await recorded.answerTo(1);
    const [call] = await server.arrived(({ rpc }) => rpc.id === 1);
    await clock.advance(1_000);
    await call?.over;
    expect(recorded.lost).toEqual([]);
    expect(clock.pending).toEqual([]);
  });

  it('leaves its socket for the next request', async () => {
    const { server, transport, recorded } = await connect(
      mcp({ request: (seen, res) => void openStream(res).end(event(result(seen.rpc.id, {}))) }),
    );
    await open(transport);
    for (let id = 1; id <= 10; id += 1) {
      await transport.send(request(id, 'tools/call'));
      await recorded.answerTo(id);
    }
    expect(server.sockets.size).toBeLessThanOrEqual(3);
  });
});

describe('An event above the size limit', () => {
  it('fails only its own request', async () => {
    const { server, transport, recorded, clock } = await connect(
      mcp({
        request: (seen, res) => {
          const text = 'x'.repeat(seen.rpc.method === 'big' ? 300_000 : 10);
          openStream(res).write(event(result(seen.rpc.id, { text })));
          if (seen.rpc.method !== 'big') res.end();
        },
      }),
      { limits: { remoteMessageBytes: 100_000 } },
    );
    await open(transport);
    await transport.send(request(1, 'big'));
    await transport.send(request(2, 'small'));
    await recorded.answerTo(2);
    expect(await recorded.answerTo(1)).toMatchObject({
      error: { code: MESSAGE_TOO_LARGE, message: expect.stringContaining('limits.remoteMessageBytes') },
    });
    expect(recorded.lost).toEqual([]);
    expect(recorded.notices.map(({ kind }) => kind)).toContain('message-too-large');
    await clock.advance(1_000);
    const [big] = await server.arrived(({ rpc }) => rpc.method === 'big');
    await big?.over;
    expect(transport.ended).toBeUndefined();
  });
});

describe('An event beyond a limit of JSON', () => {
  it('fails only the request that it answers', async () => {
    const { transport, recorded } = await connect(
      mcp({
        request: (seen, res) => {
          const list = Array.from({ length: seen.rpc.method === 'big' ? 100 : 1 }, () => 0);
          openStream(res).end(event(result(seen.rpc.id, { list })));
        },
      }),
      { limits: { structuralCharacters: 60 } },
    );
    await open(transport);
    await transport.send(request(1, 'big'));
    await transport.send(request(2, 'small'));
    expect(await recorded.answerTo(2)).toMatchObject({ result: { list: [0] } });
    expect(await recorded.answerTo(1)).toMatchObject({ error: { code: MESSAGE_TOO_LARGE } });
    expect(recorded.notices.map(({ kind }) => kind)).toContain('message-too-large');
    expect(transport.ended).toBeUndefined();
  });
});

describe('A cancelled request', () => {
  it('closes its open stream after the notification was sent, and reports nothing more', async () => {
    const order: string[] = [];
    const { server, transport, recorded } = await connect(
      mcp({
        request: (seen, res) => {
          void openStream(res);
          void seen.over.then(() => order.push('stream closed'));
        },
        accept: (seen, res) => {
          if (seen.rpc.method === 'notifications/cancelled') order.push('notified');
          refuse(202)(seen, res);
        },
      }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await transport.send(notification('notifications/cancelled', { requestId: 1 }));
    const [call] = await server.arrived(({ rpc }) => rpc.id === 1);
    await call?.over;
    expect(order).toEqual(['notified', 'stream closed']);
    expect(recorded.lost).toEqual([]);
    expect(recorded.doubts).toBe(0);
  });

  it('rejects a send that still waits, and leaves others alone', async () => {
    const held: (() => void)[] = [];
    const { server, transport, recorded } = await connect(
      mcp({ request: (seen, res) => void held.push(() => answer(res, seen, {})) }),
    );
    await open(transport);
    const cancelled = failureOf(transport.send(request(1, 'tools/call')));
    const other = transport.send(request(2, 'tools/call'));
    await server.arrived(({ rpc }) => rpc.method === 'tools/call', 2);
    await transport.send(notification('notifications/cancelled', { requestId: 1 }));
    expect(await cancelled).toMatchObject({ written: true });
    for (const release of held) release();
    await other;
    expect(recorded.messages.at(-1)).toEqual(result(2, {}));
  });

  it('releases a request whose body never comes', async () => {
    const { server, transport } = await connect(
      mcp({
        request: (_seen, res) => {
          res.writeHead(200, { 'content-type': 'application/json' });
          res.flushHeaders();
        },
      }),
    );
    await open(transport);
    const stuck = failureOf(transport.send(request(1, 'tools/call')));
    const [call] = await server.arrived(({ rpc }) => rpc.id === 1);
    await transport.send(notification('notifications/cancelled', { requestId: 1 }));
    await stuck;
    await call?.over;
    expect(transport.ended).toBeUndefined();
  });
});
