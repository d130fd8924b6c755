/** A server that was restarted without its sessions: how it rejects one that it does not know, and what a host sees. */
import { afterEach, describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { answer, refuse, startServer, type Handler, type TestServer } from '../../support/http-server.js';

const LIMIT_MS = 20_000;

/** The wording of the examples of both official SDKs, which many servers copied. */
const NO_SESSION = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_000, message: 'Bad Request: No valid session ID provided' },
});

const NO_SESSION_IN_DATA = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_000, message: 'Bad Request', data: 'Session not found' },
});

describe('an HTTP server that was restarted without its sessions', { timeout: LIMIT_MS }, () => {
  useLeakCheck();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  /** A server with one session at a time and no listening stream; `forget` is its restart. */
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
    [400, NO_SESSION_IN_DATA],
    [400, 'Bad Request: Server not initialized'],
  ])('gets a call once, in a new session, if it rejects the old one with %i %s', async (status, body) => {
    const { server, forget } = await forgetful(refuse(status, body));
    const troupe = await host(server.url);
    const events = recordEvents(troupe.events$);
    forget();

    const result = await troupe.callTool('mcp__remote__write', {});

    expect(result.content).toEqual([{ type: 'text', text: 'written in 3' }]);
    expect(events.of('connection.lost')).toMatchObject([{ failure: { code: 'session-expired' } }]);
    expect(server.seen.filter(({ rpc }) => rpc.method === 'tools/call')).toHaveLength(2);
  });

  /** A rejection with the id of the request. */
  const withId =
    (status: number, code: number, message: string): Handler =>
    (seen, res) =>
      void res
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: seen.rpc.id, error: { code, message } }));

  it.each([
    [400, 'The session on Monday is booked out; the fee for the try was charged.'],
    [404, 'There is no berth 12.'],
    [422, 'Session 7 has no free seat.'],
  ])('keeps its session if its answer to a call has status %i: %s', async (status, sentence) => {
    const { server, forget } = await forgetful(withId(status, -32_602, sentence));
    const troupe = await host(server.url);
    forget();

    await expect(troupe.callTool('mcp__remote__write', {})).rejects.toMatchObject({
      code: 'JSON_RPC_ERROR',
      rpcCode: -32_602,
      message: expect.stringContaining(sentence),
    });

    expect(server.seen.filter(({ rpc }) => rpc.method === 'tools/call')).toHaveLength(1);
    expect(troupe.connection('remote')?.status).toMatchObject({ state: 'ready', generation: 1 });
  });

  it('gets a new session, but no repeated call, if it rejects the old one with 400 in the answer to the call', async () => {
    const { server, forget } = await forgetful(
      withId(400, -32_000, 'Bad Request: No valid session ID provided'),
    );
    const troupe = await host(server.url);
    forget();

    await expect(troupe.callTool('mcp__remote__write', {})).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });

    await expect(troupe.callTool('mcp__remote__write', {})).resolves.toBeDefined();
    expect(server.seen.filter(({ rpc }) => rpc.method === 'tools/call')).toHaveLength(2);
    expect(troupe.connection('remote')?.status).toMatchObject({ state: 'ready', generation: 2 });
  });

  it('gets the call again if it rejects the session with 404 in the answer to the call', async () => {
    const { server, forget } = await forgetful(withId(404, -32_001, 'Session not found'));
    const troupe = await host(server.url);
    forget();

    await expect(troupe.callTool('mcp__remote__write', {})).resolves.toBeDefined();
  });

  it('keeps its session if it rejects a single call with 400 for another reason', async () => {
    const { server, forget } = await forgetful(refuse(400, 'The argument "path" is missing.'));
    const troupe = await host(server.url);
    forget();

    await expect(troupe.callTool('mcp__remote__write', {})).rejects.toMatchObject({ code: 'NOT_READY' });

    expect(troupe.connection('remote')?.status).toMatchObject({ state: 'ready', generation: 1 });
  });
});
