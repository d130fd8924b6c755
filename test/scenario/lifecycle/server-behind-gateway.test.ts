/** A server that is down while the gateway in front of it still answers (RFC 9110 section 15.6, 502 to 504; 520 to 530). */
import { afterEach, describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { text } from '../../support/scripted-server.js';
import { answer, mcp, refuse, startServer, type TestServer } from '../../support/http-server.js';

const TOOLS = { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };

describe('a server behind a gateway', () => {
  useLeakCheck();
  useCrashWatch();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const reach = mcp({
    sessionId: 's-1',
    request: (seen, res) => answer(res, seen, seen.rpc.method === 'tools/list' ? TOOLS : text('done')),
  });

  const connect = async (): Promise<{ server: TestServer; troupe: Troupe }> => {
    const server = await startServer(reach);
    closing.push(() => server.close());
    const policy = { backoff: [10], intensity: { restarts: 0, periodMs: 1 } };
    const troupe = createTroupe({ servers: { a: { type: 'http', url: server.url, policy } } });
    closing.push(() => troupe.close());
    await troupe.start();
    return { server, troupe };
  };

  it.each([502, 503, 504, 520, 522, 530])(
    'that is down, according to HTTP %i, is not shown as ready',
    async (status) => {
      const { server, troupe } = await connect();
      const events = recordEvents(troupe.events$);
      server.handle = refuse(status, 'upstream is gone');
      await expect(troupe.callTool('mcp__a__echo')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      await events.when('connection.lost');
      expect(events.of('connection.lost')).toMatchObject([
        { failure: { code: 'http-status', message: expect.stringContaining(`HTTP ${status}`) } },
      ]);
      const waiting = troupe.callTool('mcp__a__echo');
      server.handle = reach;
      await expect(waiting).resolves.toEqual(text('done'));
      expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
    },
  );

  it('that was down for one request keeps its session', async () => {
    const { server, troupe } = await connect();
    const events = recordEvents(troupe.events$);
    server.handle = (seen, res) => {
      server.handle = reach;
      refuse(503)(seen, res);
    };
    await expect(troupe.callTool('mcp__a__echo')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await server.arrived(({ rpc }) => rpc.method === 'ping');
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('done'));
    expect(events.of('connection.lost')).toEqual([]);
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 1 }]);
  });

  it.each([
    ['answers HTTP 404', refuse(404, 'page not found'), 'before'],
    ['answers HTTP 405', refuse(405), 'before'],
    ['shows a web page', refuse(200, '<p>Back soon</p>', { 'content-type': 'text/html' }), 'sign-in'],
    ['redirects to a web page', refuse(302, '', { location: 'http://elsewhere.test/' }), 'origin'],
  ])('whose router %s during a deployment is found again as soon as it is up', async (_, instead, hint) => {
    const { server, troupe } = await connect();
    const events = recordEvents(troupe.events$);
    server.handle = (seen, res) =>
      (seen.rpc.method === 'tools/call' ? refuse(404, 'Session not found') : instead)(seen, res);
    const waiting = troupe.callTool('mcp__a__echo');
    await events.when('connection.retrying', ({ attempt }) => attempt > 2);
    expect(troupe.status).toMatchObject([
      { error: { code: 'connection-lost', phase: 'handshake', hint: expect.stringContaining(hint) } },
    ]);
    server.handle = reach;
    await expect(waiting).resolves.toEqual(text('done'));
  });

  it('that its router has never known is not tried again', async () => {
    const server = await startServer(refuse(404, 'page not found'));
    closing.push(() => server.close());
    const servers = { a: { type: 'http', url: server.url, policy: { backoff: [10] } } } as const;
    const troupe = createTroupe({ servers });
    closing.push(() => troupe.close());
    await troupe.start();
    expect(troupe.status).toMatchObject([{ state: 'failed', attempt: 1, error: { code: 'http-status' } }]);
  });

  it('whose gateway spreads a session over several instances fails with a hint', async () => {
    const server = await startServer((seen, res) =>
      seen.rpc.method === 'initialize' ? reach(seen, res) : refuse(404, 'no such session')(seen, res),
    );
    closing.push(() => server.close());
    const policy = { backoff: [10], maxAttempts: 2 };
    const troupe = createTroupe({ servers: { a: { type: 'http', url: server.url, policy } } });
    closing.push(() => troupe.close());
    await troupe.start();
    await troupe.settled();
    expect(troupe.status).toMatchObject([
      {
        state: 'failed',
        error: { code: 'session-expired', hint: expect.stringContaining('instances') },
      },
    ]);
  });
});
