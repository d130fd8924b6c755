/** HTTP 404 for a session (MCP 2025-11-25, "Session Management"): the message was not handled, and a new session may start. */
import { afterEach, describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { text } from '../../support/scripted-server.js';
import { answer, startServer, type Seen, type TestServer } from '../../support/http-server.js';

/** A server that can forget its sessions, and never answers a call of `hold`. */
interface Forgetful extends TestServer {
  /** Forgets the present sessions. */
  forget(): void;
  /** The `initialize` requests of all sessions. */
  initializations(): Seen[];
}

describe('an HTTP session that has expired', () => {
  useLeakCheck();
  useCrashWatch();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const forgetful = async (): Promise<Forgetful> => {
    let sessions = 0;
    let known = 1;
    const tools = ['echo', 'hold'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const server = await startServer((seen, res) => {
      const { method, params } = seen.rpc;
      if (method === 'initialize') {
        sessions += 1;
        return answer(
          res,
          seen,
          {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'forgetful', version: '1' },
          },
          { 'mcp-session-id': String(sessions) },
        );
      }
      if (Number(seen.headers['mcp-session-id']) < known) return void res.writeHead(404).end();
      if (seen.method === 'GET') return void res.writeHead(405).end();
      if (seen.rpc.id === undefined) return void res.writeHead(202).end();
      if (method === 'tools/list') return answer(res, seen, { tools });
      if (params?.['name'] !== 'hold') answer(res, seen, text('done'));
    });
    closing.push(() => server.close());
    return Object.assign(server, {
      forget: () => void (known = sessions + 1),
      initializations: () => server.seen.filter(({ rpc }) => rpc.method === 'initialize'),
    });
  };

  const connect = async (server: TestServer): Promise<Troupe> => {
    const troupe = createTroupe({ servers: { a: { type: 'http', url: server.url } } });
    closing.push(() => troupe.close());
    await troupe.start();
    return troupe;
  };

  it('is replaced once, without the old id, and a call of any tool is answered', async () => {
    const server = await forgetful();
    const troupe = await connect(server);
    const events = recordEvents(troupe.events$);
    server.forget();
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('done'));
    expect(server.initializations().map(({ headers }) => headers['mcp-session-id'])).toEqual([
      undefined,
      undefined,
    ]);
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual(['not-sent', 'answered']);
    expect(events.of('connection.lost')).toMatchObject([{ failure: { code: 'session-expired' } }]);
  });

  it('is replaced once for all calls that find it expired', async () => {
    const server = await forgetful();
    const troupe = await connect(server);
    server.forget();
    const calls = Array.from({ length: 20 }, () => troupe.callTool('mcp__a__echo'));
    await expect(Promise.all(calls)).resolves.toEqual(calls.map(() => text('done')));
    expect(server.initializations()).toHaveLength(2);
  });

  it('is left by a call at once, even if another call still waits for its answer there', async () => {
    const server = await forgetful();
    const troupe = await connect(server);
    const held = troupe.callTool('mcp__a__hold');
    held.catch(() => {});
    await server.arrived(({ rpc }) => rpc.params?.['name'] === 'hold');
    server.forget();
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('done'));
    await expect(held).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(server.initializations()).toHaveLength(2);
  });

  it('that expires again at once is reported, and the same call starts no third session', async () => {
    const server = await forgetful();
    const troupe = await connect(server);
    const events = recordEvents(troupe.events$);
    server.forget();
    troupe.events$.subscribe(({ type }) => {
      if (type === 'connection.ready') server.forget();
    });
    await expect(troupe.callTool('mcp__a__echo')).rejects.toMatchObject({ code: 'NOT_READY' });
    expect(events.of('call.started').map(({ repeats }) => repeats)).toEqual([undefined, 1]);
  });

  it('does not fail a refresh, because the next session lists the tools', async () => {
    const server = await forgetful();
    const troupe = await connect(server);
    const connection = troupe.connection('a');
    server.forget();
    await connection?.refresh();
    expect(connection?.status).toMatchObject({ state: 'ready', generation: 2 });
    await connection?.ready();
  });

  it('does not fail a refresh while a call still waits for its answer', async () => {
    const server = await forgetful();
    const troupe = await connect(server);
    const held = troupe.callTool('mcp__a__hold');
    held.catch(() => {});
    await server.arrived(({ rpc }) => rpc.params?.['name'] === 'hold');
    server.forget();
    await troupe.connection('a')?.refresh();
    expect(troupe.connection('a')?.status).toMatchObject({ state: 'ready', generation: 2 });
  });
});
