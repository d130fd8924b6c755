/** The stream for the server's own messages: when it is opened, reopened and abandoned. */
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { afterRefusal } from '../../../../src/transports/http/listening-stream.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { INITIALIZE, notification, open, request } from '../../../support/session-record.js';
import {
  answer,
  echo,
  event,
  mcp,
  openStream,
  refuse,
  result,
  type Handler,
  type Seen,
} from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const isGet = ({ method }: Seen): boolean => method === 'GET';
const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

describe('The listening stream', () => {
  it('opens only after the initialized notification was accepted, with the headers of the session', async () => {
    const { server, transport } = await connect(
      mcp({ sessionId: 's-1', listen: (_seen, res) => void openStream(res) }),
    );
    await transport.start();
    await transport.send(INITIALIZE);
    transport.setProtocolVersion?.('2025-06-18');
    expect(server.seen.some(isGet)).toBe(false);
    await transport.send(notification('notifications/initialized'));
    const [get] = await server.arrived(isGet);
    expect(get?.headers).toMatchObject({
      accept: 'text/event-stream',
      'mcp-session-id': 's-1',
      'mcp-protocol-version': '2025-06-18',
    });
  });

  it('delivers messages of the server', async () => {
    const { transport, recorded } = await connect(
      mcp({ listen: (_seen, res) => void openStream(res).write(event(CHANGED)) }),
    );
    await open(transport);
    await recorded.until(() => recorded.messages.length > 1);
    expect(recorded.messages[1]).toEqual(CHANGED);
  });

  it('counts messages and each part of a long one as signs of life, but not keep-alive data', async () => {
    let stream!: ServerResponse;
    const { server, transport, recorded } = await connect(
      mcp({ listen: (_seen, res) => void (stream = openStream(res)) }),
    );
    await open(transport);
    await server.arrived(isGet);
    const before = recorded.activity;
    const kept = ': ping\n\nid: 1\ndata:\n\nevent: ping\ndata: 12:00\n\n';
    for (const chunk of [kept, kept, event(CHANGED)]) {
      stream.write(chunk);
      await setImmediate();
    }
    await recorded.until(() => recorded.messages.length > 1);
    expect(recorded.activity).toBe(before + 1);
    stream.write(`data: {"text":"${'x'.repeat(5_000)}`);
    await recorded.until(() => recorded.activity > before + 1);
    expect(recorded.messages).toHaveLength(2);
  });

  it('skips invalid messages, and reports them', async () => {
    const { clock, transport, recorded } = await connect(
      mcp({
        listen: (_seen, res) =>
          void openStream(res).write(`data: {"a":1}\n\ndata: oops\n\n${event(CHANGED)}`),
      }),
    );
    await open(transport);
    await recorded.until(() => recorded.messages.length > 1);
    await clock.advance(1_000);
    expect(recorded.notices).toMatchObject([{ kind: 'bad-message', message: expect.stringContaining('2 ') }]);
  });

  it('skips a message above the size limit, and continues', async () => {
    const big = { ...CHANGED, params: { text: 'x'.repeat(200_000) } };
    const { transport, recorded } = await connect(
      mcp({ listen: (_seen, res) => void openStream(res).write(event(big) + event(CHANGED)) }),
      { limits: { remoteMessageBytes: 100_000 } },
    );
    await open(transport);
    await recorded.until(() => recorded.messages.length > 1);
    expect(recorded.messages.slice(1)).toEqual([CHANGED]);
    expect(recorded.notices.map(({ kind }) => kind)).toContain('message-too-large');
  });

  it.each([400, 401, 403, 404, 405, 501 - 95])(
    'is abandoned if the first GET is refused with %i',
    async (status) => {
      const { server, clock, transport, recorded } = await connect(
        mcp({ sessionId: 's-1', listen: refuse(status) }),
      );
      await open(transport);
      await recorded.until(() => recorded.notices.length > 0);
      await clock.advance(600_000);
      await transport.send(request(1, 'ping'));
      expect(server.seen.filter(isGet)).toHaveLength(1);
      expect(recorded.notices).toHaveLength(1);
      expect(recorded.notices[0]).toMatchObject({ kind: 'no-listening-stream' });
      expect(recorded.notices[0]?.message).toContain(String(status));
      expect(transport.ended).toBeUndefined();
    },
  );

  it('is abandoned if the server sends a page instead of a stream', async () => {
    const { server, clock, transport, recorded } = await connect(
      mcp({ listen: refuse(200, '<html>', { 'content-type': 'text/html' }) }),
    );
    await open(transport);
    await recorded.until(() => recorded.notices.length > 0);
    await clock.advance(600_000);
    expect(server.seen.filter(isGet)).toHaveLength(1);
  });

  it('that closes at once is reopened with growing delays of at most 30 s', async () => {
    const { server, clock, transport } = await connect(
      mcp({ listen: (_seen, res) => void openStream(res).end() }),
    );
    await open(transport);
    const pauses = [
      1_000, 1_500, 2_250, 3_375, 5_062.5, 7_593.75, 11_390.625, 17_085.9375, 25_628.90625, 30_000, 30_000,
    ];
    for (const [n, ms] of pauses.entries()) {
      await clock.whenSet(ms);
      expect(server.seen.filter(isGet)).toHaveLength(n + 1);
      expect(clock.pending).toEqual([ms]);
      await clock.advance(ms);
    }
  });

  it('starts with short delays again once a stream has lasted 5 s', async () => {
    const ends: (() => void)[] = [];
    const { server, clock, transport } = await connect(
      mcp({ listen: (_seen, res) => void ends.push(() => openStream(res).end()) }),
    );
    const endOf = async (n: number): Promise<void> => {
      await server.arrived(isGet, n);
      ends[n - 1]?.();
    };
    await open(transport);
    await endOf(1);
    await clock.whenSet(1_000);
    await clock.advance(1_000);
    await endOf(2);
    await clock.whenSet(1_500);
    await clock.advance(1_500);
    await server.arrived(isGet, 3);
    expect(clock.pending).toEqual([]);
  });

  it('waits at least as long as the server asks for, and resumes after the last event', async () => {
    const { server, clock, transport } = await connect(
      mcp({ listen: (_seen, res) => void openStream(res).end(`retry: 4000\n${event(CHANGED, 'é-7')}`) }),
    );
    await open(transport);
    await clock.whenSet(4_000);
    await clock.advance(4_000);
    const [, second] = await server.arrived(isGet, 2);
    expect(Buffer.from(String(second?.headers['last-event-id']), 'latin1').toString()).toBe('é-7');
  });

  it('is not opened faster than that, however short a delay the server sets', async () => {
    const { clock, transport } = await connect(
      mcp({ listen: (_seen, res) => void openStream(res).end('retry: 20\ndata:\n\n') }),
    );
    await open(transport);
    await clock.whenSet(1_000);
    await clock.advance(1_000);
    await clock.whenSet(1_500);
    expect(clock.pending).toEqual([1_500]);
  });

  it('works with a delay that is too long for a timer', async () => {
    const { clock, transport } = await connect(
      mcp({ listen: (_seen, res) => void openStream(res).end('retry: 99999999999\ndata:\n\n') }),
    );
    await open(transport);
    await clock.whenSet(2_147_483_647);
    expect(clock.pending).toEqual([2_147_483_647]);
  });

  it('honors Retry-After while the server is busy', async () => {
    let busy = true;
    const { clock, server, transport, recorded } = await connect(
      mcp({
        listen: (seen, res) => {
          if (busy) refuse(503, '', { 'retry-after': '7' })(seen, res);
          else openStream(res).write(event(CHANGED));
        },
      }),
    );
    await open(transport);
    await clock.whenSet(7_000);
    busy = false;
    await clock.advance(7_000);
    await server.arrived(isGet, 2);
    await recorded.until(() => recorded.messages.length > 1);
    expect(recorded.notices).toEqual([]);
  });

  it('that is cut before its reply, however often, affects neither the session nor its requests', async () => {
    let answerLate = (): void => {};
    const { clock, transport, recorded } = await connect(
      mcp({
        sessionId: 's-1',
        listen: (_seen, res) => void res.destroy(),
        request: (seen, res) => {
          if (seen.rpc.method === 'slow') answerLate = () => answer(res, seen, { late: true });
          else echo(seen, res);
        },
      }),
    );
    await open(transport);
    const slow = transport.send(request(1, 'slow'));
    for (const ms of [1_000, 1_500, 2_250, 3_375]) {
      await clock.whenSet(ms);
      await clock.advance(ms);
    }
    await transport.send(request(2, 'ping'));
    answerLate();
    await slow;
    expect(recorded.messages.slice(1)).toEqual([result(2, { method: 'ping' }), result(1, { late: true })]);
    expect(recorded.notices).toEqual([]);
    expect(transport.ended).toBeUndefined();
    expect(recorded.doubts).toBeGreaterThanOrEqual(4);
  });

  it.each<[string, Handler, number]>([
    [
      'is cut raises a suspicion, although nothing else is lost',
      (_seen, res) => void openStream(res).write(': here\n\n', () => res.destroy()),
      1,
    ],
    ['a gateway refuses raises one, too', refuse(504, 'upstream is silent'), 1],
    ['ends in order raises none', (_seen, res) => void openStream(res).end(), 0],
  ])('that %s', async (_title, listen, doubts) => {
    const { clock, transport, recorded } = await connect(mcp({ sessionId: 's-1', listen }));
    await open(transport);
    await clock.whenSet(1_000);
    await recorded.until(() => recorded.doubts >= doubts);
    expect(recorded.doubts).toBe(doubts);
    expect(transport.ended).toBeUndefined();
  });

  it('may carry the answer to a request that was only accepted', async () => {
    let stream: Parameters<Handler>[1] | undefined;
    const { server, transport, recorded } = await connect(
      mcp({
        listen: (_seen, res) => void (stream = openStream(res)),
        request: (seen, res) => {
          refuse(202)(seen, res);
          stream?.write(event(result(seen.rpc.id, { odd: true })));
        },
      }),
    );
    await open(transport);
    await server.arrived(isGet);
    await transport.send(request(1, 'tools/call'));
    expect(await recorded.answerTo(1)).toEqual(result(1, { odd: true }));
  });

  it('is requested again without the event id if that is refused', async () => {
    let first = true;
    const { server, clock, transport, recorded } = await connect(
      mcp({
        listen: (seen, res) => {
          if (first) openStream(res).end(event(CHANGED, 'ev-1'));
          else if (seen.headers['last-event-id'] !== undefined) refuse(400)(seen, res);
          else openStream(res).write(event(CHANGED));
          first = false;
        },
      }),
    );
    await open(transport);
    for (const ms of [1_000, 1_500]) {
      await clock.whenSet(ms);
      await clock.advance(ms);
    }
    await recorded.until(() => recorded.messages.length > 2);
    expect(server.seen.filter(isGet).map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      'ev-1',
      undefined,
    ]);
    expect(transport.ended).toBeUndefined();
  });
});

describe('The reaction to a refused GET', () => {
  const status = (code: number): Parameters<typeof afterRefusal>[0] => ({
    code: 'http-status',
    message: '',
    http: { status: code },
  });

  const FIRST = { hadStream: false, inSession: true, resuming: false };
  const LATER = { hadStream: true, inSession: true, resuming: false };
  const RESUMING = { hadStream: true, inSession: true, resuming: true };
  const NO_SESSION = { hadStream: true, inSession: false, resuming: false };

  it.each([
    [405, FIRST, 'give-up'],
    [404, FIRST, 'give-up'],
    [404, LATER, 'session-gone'],
    [404, RESUMING, 'session-gone'],
    [404, NO_SESSION, 'give-up'],
    [400, RESUMING, 'forget-event'],
    [400, LATER, 'session-gone'],
    [400, NO_SESSION, 'give-up'],
    [409, LATER, 'retry'],
    [409, FIRST, 'give-up'],
    [429, FIRST, 'retry'],
    [500, FIRST, 'retry'],
    [503, LATER, 'retry'],
    [403, LATER, 'give-up'],
  ] as const)('to HTTP %i with %o is %s', (code, soFar, expected) => {
    expect(afterRefusal(status(code), soFar)).toBe(expected);
  });

  it('treats only a failed connection as a sign that the server is gone', () => {
    expect(afterRefusal({ code: 'address-refused', message: '' }, FIRST)).toBe('unreachable');
    expect(afterRefusal({ code: 'connection-lost', message: '' }, FIRST)).toBe('retry');
  });
});
