/** Missing or unfinished replies of a server take sockets for some seconds only. */
import { describe, expect, it } from 'vitest';
import { createSseTransport } from '../../../../src/transports/http/sse.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE, notification, open, request } from '../../../support/session-record.js';
import { echo, mcp, openStream, refuse, type Handler, type Seen } from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const AT_ONCE = 64;
const REPLY_MS = 10_000;
const REST_MS = 2_500;
const CANCELLATION_MS = 2_000;

const isCall = ({ rpc }: Seen): boolean => rpc.method === 'tools/call';
const isCancellation = ({ rpc }: Seen): boolean => rpc.method === 'notifications/cancelled';
const hang: Handler = () => {};

/** As fast as the client reads it. */
const endless: Handler = (_seen, res) => {
  res.writeHead(202);
  const more = Buffer.alloc(64 * 1024);
  const fill = (): void => {
    while (!res.destroyed && res.write(more));
    if (!res.destroyed) res.once('drain', fill);
  };
  fill();
};

describe('A server that accepts requests and never answers', () => {
  it('gives no sign of life over streamable HTTP, except with its first reply and with a refusal', async () => {
    const { transport, recorded } = await connect(
      mcp({
        listen: (_seen, res) => void openStream(res),
        request: (seen, res) => {
          if (seen.rpc.method === 'ping') openStream(res).write(': still working\n\n');
          else refuse(seen.rpc.method === 'prompts/list' ? 500 : 400)(seen, res);
        },
      }),
    );
    await open(transport);
    const { activity } = recorded;
    await transport.send(request(1, 'ping'));
    await transport.send(notification('notifications/cancelled', { requestId: 1 }));
    expect(recorded.activity).toBe(activity);
    await failureOf(transport.send(request(2, 'prompts/list')));
    expect(recorded.activity).toBe(activity);
    await failureOf(transport.send(request(3, 'tools/list')));
    expect(recorded.activity).toBe(activity + 1);
  });

  it('is known to be alive from its first reply, before there is an answer', async () => {
    const { transport, recorded } = await connect(mcp({ initialize: (_seen, res) => void openStream(res) }));
    await transport.start();
    await transport.send(INITIALIZE);
    expect(recorded.activity).toBe(1);
  });

  it('gives no sign of life over HTTP+SSE', async () => {
    const { transport, recorded } = await connect(
      (seen, res) => {
        if (seen.method === 'GET') openStream(res).write('event: endpoint\ndata: /messages\n\n');
        else res.writeHead(202).end('Accepted');
      },
      { create: createSseTransport },
    );
    await transport.start();
    const { activity } = recorded;
    await transport.send(request(1, 'ping'));
    expect(recorded.activity).toBe(activity);
  });
});

describe('A server that replies neither to a call nor to its cancellation', () => {
  it('keeps the socket of the call for two more seconds, and that of the cancellation for ten', async () => {
    const { server, clock, transport } = await connect(
      mcp({ request: hang, accept: (seen, res) => (isCancellation(seen) ? hang : refuse(202))(seen, res) }),
    );
    await open(transport);
    const call = failureOf(transport.send(request(1, 'tools/call')));
    const [arrived] = await server.arrived(isCall);
    const cancelling = failureOf(transport.send(notification('notifications/cancelled', { requestId: 1 })));
    const [cancelled] = await server.arrived(isCancellation);
    await clock.advance(CANCELLATION_MS);
    expect(await call).toMatchObject({ written: true });
    await arrived?.over;
    await clock.advance(REPLY_MS - CANCELLATION_MS);
    expect(await cancelling).toMatchObject({ written: true, failure: { code: 'connection-lost' } });
    await cancelled?.over;
    expect(transport.ended).toBeUndefined();
    expect(clock.pending).toEqual([]);
  });

  it('takes a limited number of sockets, however many calls are cancelled', async () => {
    const { server, clock, transport } = await connect(
      mcp({
        request: (seen, res) => (isCall(seen) ? hang : echo)(seen, res),
        accept: (seen, res) => (isCancellation(seen) ? hang : refuse(202))(seen, res),
      }),
    );
    await open(transport);
    const settled: Promise<unknown>[] = [];
    for (let round = 0; round < 4; round += 1) {
      const ids = Array.from({ length: 40 }, (_, i) => 40 * round + i + 1);
      settled.push(...ids.map((id) => transport.send(request(id, 'tools/call')).catch(() => {})));
      const calls = await server.arrived(isCall, 40 * (round + 1));
      settled.push(
        ...ids.map((id) =>
          transport.send(notification('notifications/cancelled', { requestId: id })).catch(() => {}),
        ),
      );
      await clock.advance(CANCELLATION_MS);
      await Promise.all(calls.map(({ over }) => over));
      expect(server.seen.filter(isCancellation).length).toBeLessThanOrEqual(AT_ONCE);
    }
    await transport.send(request(1_000, 'ping'));
    expect(server.sockets.size).toBeLessThan(AT_ONCE + 5);
    await transport.close();
    await Promise.all(settled);
    await server.idle();
    expect(clock.pending).toEqual([]);
  });
});

describe('A reply that nobody reads', () => {
  it.each<[string, Handler]>([
    ['never ends', (_seen, res) => void res.writeHead(202).write('...')],
    ['is an event stream without events', (_seen, res) => void openStream(res)],
  ])('is cut after some seconds if it %s', async (_, accept) => {
    const { server, clock, transport } = await connect(mcp({ accept }));
    await open(transport);
    const [taken] = await server.arrived(({ rpc }) => rpc.method === 'notifications/initialized');
    await clock.advance(REST_MS);
    await taken?.over;
    await transport.send(request(1, 'tools/call'));
    expect(clock.pending).toEqual([]);
  });

  it('is cut at once if it never ends, however fast it comes', async () => {
    const { server, clock, transport } = await connect(mcp({ accept: endless }));
    await open(transport);
    const [taken] = await server.arrived(({ rpc }) => rpc.method === 'notifications/initialized');
    await taken?.over;
    await transport.send(request(1, 'tools/call'));
    expect(clock.pending).toEqual([]);
  });

  it('is cut even if it is a redirect', async () => {
    const { server, clock, transport } = await connect((seen, res) => {
      if (seen.path === '/mcp/') mcp()(seen, res);
      else res.writeHead(307, { location: '/mcp/' }).write('...');
    });
    await open(transport);
    const [redirected] = await server.arrived(({ path }) => path === '/mcp');
    await clock.advance(REST_MS);
    await redirected?.over;
    expect(transport.ended).toBeUndefined();
  });

  it('leaves its socket for the next message if it is short', async () => {
    const { server, clock, transport } = await connect(
      mcp({ accept: (_seen, res) => void res.writeHead(202).end('Accepted') }),
    );
    await open(transport);
    for (let n = 0; n < 10; n += 1) {
      await transport.send(notification('notifications/x'));
      await transport.send(request(n + 1, 'ping'));
    }
    expect(server.sockets.size).toBeLessThanOrEqual(3);
    expect(clock.pending).toEqual([]);
  });
});

it('Notifications without a reply block no request, and are sent 64 at a time', async () => {
  const isNotice = ({ rpc }: Seen): boolean => rpc.method === 'notifications/x';
  const { server, clock, transport, recorded } = await connect(
    mcp({ accept: (seen, res) => (isNotice(seen) ? hang : refuse(202))(seen, res) }),
  );
  await open(transport);
  const sent = Array.from({ length: 200 }, () =>
    transport.send(notification('notifications/x')).catch(() => {}),
  );
  await server.arrived(isNotice, AT_ONCE);
  await transport.send(request(1, 'tools/call'));
  await recorded.answerTo(1);
  expect(server.seen.filter(isNotice)).toHaveLength(AT_ONCE);
  await clock.advance(REPLY_MS);
  await server.arrived(isNotice, 2 * AT_ONCE);
  await transport.close();
  await Promise.all(sent);
  await server.idle();
  expect(server.seen.filter(isNotice)).toHaveLength(2 * AT_ONCE);
});
