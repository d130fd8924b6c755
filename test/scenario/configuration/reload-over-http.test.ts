/** The requests to a server when a header of its entry changes: the new session starts before the old one ends. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { bounded } from '../../support/signing-troupes.js';
import { answer, startServer, type Seen, type TestServer } from '../../support/http-server.js';

useLeakCheck();
useCrashWatch();

let server: TestServer | undefined;
let troupe: Troupe | undefined;
afterEach(async () => {
  await troupe?.close();
  await server?.close();
});

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'keys', version: '1' },
};

const keyOf = ({ headers }: Seen): string => String(headers['x-key']);
const sessionOf = ({ headers }: Seen): string => String(headers['mcp-session-id']);

/** A server for up to `room` sessions that rejects keys starting with `bad` or `unknown`, and can hold answers to calls. */
async function start({ room = 9, hold }: { room?: number; hold?: Promise<void> } = {}) {
  const sessions = new Set<string>();
  let count = 0;
  const serve = async (seen: Seen, res: ServerResponse): Promise<void> => {
    if (seen.method === 'GET') return void res.writeHead(405).end();
    if (keyOf(seen).startsWith('bad')) return void res.writeHead(403).end('unknown key');
    if (keyOf(seen).startsWith('unknown')) return void res.writeHead(401).end('sign in');
    if (seen.method === 'DELETE') {
      sessions.delete(sessionOf(seen));
      return void res.writeHead(200).end();
    }
    if (seen.rpc.method === 'initialize') {
      if (sessions.size >= room) return void res.writeHead(400).end('already initialized');
      count += 1;
      sessions.add(`session-${count}`);
      return answer(res, seen, INITIALIZED, { 'mcp-session-id': `session-${count}` });
    }
    if (!sessions.has(sessionOf(seen))) return void res.writeHead(404).end();
    if (seen.rpc.id === undefined) return void res.writeHead(202).end();
    if (seen.rpc.method === 'tools/call') await hold;
    const content = [{ type: 'text', text: `${sessionOf(seen)} ${keyOf(seen)}` }];
    const tools = [{ name: 'tell', inputSchema: { type: 'object' } }];
    answer(res, seen, seen.rpc.method === 'tools/list' ? { tools } : { content });
  };
  const port = await startServer((seen, res) => void serve(seen, res));
  server = port;
  const entry = (key: string): Record<string, ServerConfig> => ({
    a: { type: 'http', url: port.url, headers: { 'X-Key': key } },
  });
  const made = createTroupe({ servers: entry('key-1') });
  troupe = made;
  await bounded(made.start());
  const sessionRequests = () =>
    port.seen
      .filter(({ method, rpc }) => method === 'DELETE' || rpc.method === 'initialize')
      .map(
        (seen) =>
          `${seen.method === 'DELETE' ? `end of ${sessionOf(seen)}` : 'initialize'} by ${keyOf(seen)}`,
      );
  const call = async (): Promise<unknown> => (await made.callTool('mcp__a__tell')).content;
  return { port, troupe: made, entry, sessionRequests, call, sessions };
}

const content = (text: string) => [{ type: 'text', text }];

describe('a header that changes', () => {
  it('is sent in a new session, which is ready before the old one ends', async () => {
    let release = (): void => {};
    const {
      port,
      troupe: made,
      entry,
      sessionRequests,
      call,
      sessions,
    } = await start({
      hold: new Promise<void>((resolve) => (release = resolve)),
    });
    const slow = call();
    await bounded(port.arrived(({ rpc }) => rpc.method === 'tools/call'));
    await bounded(made.reload(entry('key-2')));
    expect(made.status).toMatchObject([{ state: 'ready', generation: 2 }]);
    expect(sessionRequests()).toEqual(['initialize by key-1', 'initialize by key-2']);
    const fast = call();
    release();
    await expect(slow).resolves.toEqual(content('session-1 key-1'));
    await expect(fast).resolves.toEqual(content('session-2 key-2'));
    await bounded(port.arrived(({ method }) => method === 'DELETE'));
    expect(sessionRequests().at(-1)).toBe('end of session-1 by key-1');
    expect([...sessions]).toEqual(['session-2']);
  });

  it('and is rejected by the server leaves the old session in use', async () => {
    const { troupe: made, entry, sessionRequests, call } = await start();
    const { outdated, problems } = await bounded(made.reload(entry('bad-key')));
    expect(outdated).toEqual(['a']);
    expect(problems).toMatchObject([{ code: 'entry-outdated' }]);
    expect(JSON.stringify(problems)).not.toContain('bad-key');
    await expect(call()).resolves.toEqual(content('session-1 key-1'));
    expect(sessionRequests()).toEqual(['initialize by key-1', 'initialize by bad-key']);
    await bounded(made.reload(entry('key-3')));
    await expect(call()).resolves.toEqual(content('session-2 key-3'));
  });

  it('and requires a sign-in leaves the old session in use if nobody can sign in', async () => {
    const { troupe: made, entry, sessionRequests, call } = await start();
    const { outdated, problems } = await bounded(made.reload(entry('unknown-key')));
    expect(outdated).toEqual(['a']);
    expect(problems).toMatchObject([{ server: 'a' }]);
    expect(made.status).toMatchObject([{ state: 'ready', outdated: { code: 'auth-required' } }]);
    await expect(call()).resolves.toEqual(content('session-1 key-1'));
    expect(sessionRequests()).toEqual(['initialize by key-1', 'initialize by unknown-key']);
  });

  it('ends the old session first if the server accepts only one session', async () => {
    const { troupe: made, entry, sessionRequests, call } = await start({ room: 1 });
    await expect(bounded(made.reload(entry('key-2')))).resolves.toMatchObject({ outdated: [] });
    await expect(call()).resolves.toEqual(content('session-2 key-2'));
    expect(sessionRequests()).toEqual([
      'initialize by key-1',
      'initialize by key-2',
      'end of session-1 by key-1',
      'initialize by key-2',
    ]);
  });
});
