/** A remote server that answers a ping with something else: reading a list again shows whether the server works. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { text } from '../../support/scripted-server.js';
import {
  answer,
  mcp,
  openStream,
  refuse,
  startServer,
  type Handler,
  type Seen,
  type TestServer,
} from '../../support/http-server.js';

const TOOLS = { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };

const isPing = ({ rpc }: Seen): boolean => rpc.method === 'ping';
const html = refuse(200, '<p>Back soon</p>', { 'content-type': 'text/html' });
const emptyJson = refuse(200, '', { 'content-type': 'application/json' });
const emptyStream: Handler = (_seen, res) => void openStream(res).end();

const works = (seen: Seen, res: ServerResponse): void =>
  answer(res, seen, seen.rpc.method === 'tools/list' ? TOOLS : text('done'));

describe('a remote server', () => {
  useLeakCheck();
  useCrashWatch();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const connect = async (handle: Handler): Promise<{ server: TestServer; troupe: Troupe }> => {
    const server = await startServer(handle);
    closing.push(() => server.close());
    const ping = { idleMs: 20, timeoutMs: 10_000 };
    const policy = { backoff: [10], intensity: { restarts: 0, periodMs: 1 }, maxAttempts: 1_000, ping };
    const troupe = createTroupe({ servers: { a: { type: 'http', url: server.url, policy } }, cache: false });
    closing.push(() => troupe.close());
    await troupe.start();
    return { server, troupe };
  };

  it.each([
    ['HTTP 202', refuse(202)],
    ['HTTP 204', refuse(204)],
    ['an empty reply', refuse(200)],
    ['a web page', html],
    ['JSON without text', emptyJson],
    ['a stream without events', emptyStream],
    ['HTTP 500', refuse(500, 'no such method')],
    ['HTTP 404', refuse(404, 'no such method')],
  ])('that answers a ping with %s and lists its tools is kept', async (_, pong) => {
    const request: Handler = (seen, res) => (isPing(seen) ? pong : works)(seen, res);
    const { server, troupe } = await connect(mcp({ request }));
    const events = recordEvents(troupe.events$);
    await server.arrived(isPing, 5);
    expect(events.of('connection.lost')).toEqual([]);
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 1 }]);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('done'));
  });

  it.each([
    ['HTTP 202', refuse(202)],
    ['a web page', html],
    ['a stream without events', emptyStream],
    ['HTTP 500', refuse(500, 'Internal Server Error')],
  ])('that answers everything with %s is lost, and found again as soon as it works', async (_, instead) => {
    const { server, troupe } = await connect(mcp({ request: works }));
    const events = recordEvents(troupe.events$);
    server.handle = instead;
    await events.when('connection.lost');
    await events.when('connection.retrying', ({ attempt }) => attempt > 3);
    const waiting = troupe.callTool('mcp__a__echo');
    server.handle = mcp({ request: works });
    await expect(waiting).resolves.toEqual(text('done'));
    expect(server.seen.filter(({ rpc }) => rpc.method === 'tools/call')).toHaveLength(1);
  });

  it('whose session died behind a proxy that still sends HTTP 500 and comments gets a new session', async () => {
    const dead = new Set<unknown>();
    let sessions = 0;
    const handle: Handler = (seen, res) => {
      const isDead = dead.has(seen.headers['mcp-session-id']);
      const listen: Handler = () => void openStream(res).write(': ping\n\n');
      const request = isDead ? refuse(500, 'Error handling POST request') : works;
      mcp({ sessionId: `s-${(sessions += seen.rpc.method === 'initialize' ? 1 : 0)}`, listen, request })(
        seen,
        res,
      );
    };
    const { troupe } = await connect(handle);
    const events = recordEvents(troupe.events$);
    dead.add('s-1');
    await events.when('connection.lost');
    expect(events.of('connection.lost')).toMatchObject([
      { failure: { code: 'http-status', http: { status: 500 } } },
    ]);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('done'));
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
  });
});
