/** A server that came back without its sessions: what it says of one that it does not know, and what a host sees. */
import { afterEach, describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../src/troupe.js';
import { recordEvents } from '../support/event-record.js';
import { useLeakCheck } from '../support/leak-check.js';
import {
  answer,
  refuse,
  startServer,
  type Handler,
  type TestServer,
} from '../transports/http/test-server.js';

const LIMIT_MS = 20_000;

/** The wording of the examples of both official SDKs, and of what was built after them. */
const NO_SESSION = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_000, message: 'Bad Request: No valid session ID provided' },
});

describe('An HTTP server that came back without its sessions', { timeout: LIMIT_MS }, () => {
  useLeakCheck();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  /** A server of one session at a time, without a listening stream; `forget` is its restart. */
  async function forgetful(refusal: Handler): Promise<{ server: TestServer; forget: () => void }> {
    let session = 0;
    const handle: Handler = (seen, res) => {
      if (seen.rpc.method === 'initialize') {
        session += 1;
        const { protocolVersion } = seen.rpc.params ?? {};
        const capabilities = { tools: {} };
        const identity = { protocolVersion, capabilities, serverInfo: { name: 'forgetful', version: '1' } };
        return answer(res, seen, identity, { 'mcp-session-id': String(session) });
      }
      if (seen.headers['mcp-session-id'] !== String(session)) return refusal(seen, res);
      if (seen.method === 'DELETE') return refuse(200)(seen, res);
      if (seen.method === 'GET') return refuse(405)(seen, res);
      if (seen.rpc.id === undefined) return refuse(202)(seen, res);
      if (seen.rpc.method === 'tools/list') {
        return answer(res, seen, { tools: [{ name: 'write', inputSchema: { type: 'object' } }] });
      }
      return answer(res, seen, { content: [{ type: 'text', text: `written in ${session}` }] });
    };
    const server = await startServer(handle);
    closing.push(() => server.close());
    return { server, forget: () => (session += 1) };
  }

  async function host(url: string): Promise<Troupe> {
    const troupe = createTroupe({ servers: { remote: { type: 'http', url } } });
    closing.push(() => troupe.close());
    await troupe.start();
    return troupe;
  }

  it.each([
    [404, 'Session not found'],
    [400, NO_SESSION],
    [400, 'Unknown session'],
    [400, 'Bad Request: Server not initialized'],
  ])(
    'gets a call once, over a new session, where it refuses the old one with %i %s',
    async (status, body) => {
      const { server, forget } = await forgetful(refuse(status, body));
      const troupe = await host(server.url);
      const events = recordEvents(troupe.events$);
      forget();

      const result = await troupe.callTool('mcp__remote__write', {});

      expect(result.content).toEqual([{ type: 'text', text: 'written in 3' }]);
      expect(events.of('connection.lost')).toMatchObject([{ failure: { code: 'session-expired' } }]);
      expect(server.seen.filter(({ rpc }) => rpc.method === 'tools/call')).toHaveLength(2);
    },
  );

  it('keeps its session where it refuses a single call with 400 for another reason', async () => {
    const { server, forget } = await forgetful(refuse(400, 'The argument "path" is missing.'));
    const troupe = await host(server.url);
    forget();

    await expect(troupe.callTool('mcp__remote__write', {})).rejects.toMatchObject({ code: 'NOT_READY' });

    expect(troupe.connection('remote')?.status).toMatchObject({ state: 'ready', generation: 1 });
  });
});
