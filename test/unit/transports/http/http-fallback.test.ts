/** An address without a type: streamable HTTP first, and the older transport if that is refused. */
import { describe, expect, it } from 'vitest';
import type { HttpTransportOptions } from '../../../../src/transports/http/http-session.js';
import { createHttpTransport } from '../../../../src/transports/http/http-fallback.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture, type Fixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE, open, request } from '../../../support/session-record.js';
import { event, mcp, openStream, refuse, result, type Handler } from '../../../support/http-server.js';

useLeakCheck();
const fixture = useHttpFixture();
const connect = (handle: Handler, options: Partial<HttpTransportOptions> = {}): Promise<Fixture> =>
  fixture(handle, { ...options, create: createHttpTransport });

/** A server with only the older transport; a POST to the address of its stream gets `status`. */
function oldOnly(status: number): Handler {
  let stream: Parameters<Handler>[1] | undefined;
  return (seen, res) => {
    if (seen.path === '/mcp' && seen.method === 'GET') {
      stream = openStream(res);
      stream.write('event: endpoint\ndata: /messages\n\n');
    } else if (seen.path === '/messages') {
      res.writeHead(202).end();
      if (seen.rpc.id !== undefined) stream?.write(event(result(seen.rpc.id, { old: true })));
    } else {
      refuse(status)(seen, res);
    }
  };
}

describe('The HTTP transport for an address without a type', () => {
  it('stays with streamable HTTP if that works', async () => {
    const { server, transport, recorded } = await connect(mcp({ sessionId: 's-1' }));
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(transport.kind).toBe('http');
    expect(transport.sessionId).toBe('s-1');
    expect(recorded.messages).toHaveLength(2);
    await transport.close();
    expect(server.seen.map(({ method }) => method)).toContain('DELETE');
    expect(recorded.closes).toBe(1);
  });

  it.each([400, 404, 405, 415, 501])(
    'falls back to the older transport after %i, transparently',
    async (status) => {
      const { server, transport, recorded } = await connect(oldOnly(status));
      await open(transport);
      await transport.send(request(1, 'tools/list'));
      expect(await recorded.answerTo(1)).toEqual(result(1, { old: true }));
      expect(await recorded.answerTo(0)).toEqual(result(0, { old: true }));
      expect(transport.kind).toBe('sse');
      expect(transport.url).toBe(server.url);
      expect(recorded.closes).toBe(0);
      await transport.close();
      expect(recorded.closes).toBe(1);
      await server.idle();
    },
  );

  it('falls back if a POST opens the stream of the older transport', async () => {
    const streams: Parameters<Handler>[1][] = [];
    const { server, transport, recorded } = await connect((seen, res) => {
      if (seen.path === '/mcp') {
        streams.push(openStream(res));
        return void res.write(`event: endpoint\ndata: /messages?stream=${streams.length - 1}\n\n`);
      }
      res.writeHead(202).end();
      const stream = streams[Number(seen.path.split('=')[1])];
      if (seen.rpc.id !== undefined) stream?.write(event(result(seen.rpc.id, { old: true })));
    });
    await transport.start();
    await transport.send(INITIALIZE);
    expect(await recorded.answerTo(0)).toEqual(result(0, { old: true }));
    await transport.send(request(1, 'tools/list'));
    expect(await recorded.answerTo(1)).toEqual(result(1, { old: true }));
    expect(transport.kind).toBe('sse');
    expect(recorded.lost).toEqual([]);
    await transport.close();
    expect(recorded.closes).toBe(1);
    await server.idle();
  });

  it('loses the first message if the older transport does not work either', async () => {
    const { transport, recorded } = await connect((seen, res) => {
      if (seen.method === 'GET') return refuse(403, 'members only')(seen, res);
      openStream(res).write('event: endpoint\ndata: /messages\n\n');
    });
    await transport.start();
    await transport.send(INITIALIZE);
    await recorded.until(() => recorded.lost.length > 0);
    expect(recorded.lost).toMatchObject([{ id: 0, failure: { code: 'http-not-mcp' } }]);
  });

  it.each([401, 403, 408, 429, 500, 503])('does not fall back after %i', async (status) => {
    const { server, transport } = await connect(oldOnly(status));
    await transport.start();
    expect((await failureOf(transport.send(INITIALIZE))).failure.http?.status).toBe(status);
    expect(server.seen).toHaveLength(1);
    expect(transport.kind).toBe('http');
  });

  it.each([0, null])(
    'takes a refusal of the protocol version for the answer, with id %s, and does not fall back',
    async (id) => {
      const error = { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } };
      const body = JSON.stringify({ jsonrpc: '2.0', id, error });
      const { server, transport, recorded } = await connect(refuse(400, body));
      await transport.start();
      await transport.send(INITIALIZE);
      expect(await recorded.answerTo(0)).toMatchObject({ error });
      expect(server.seen).toHaveLength(1);
      expect(transport.kind).toBe('http');
    },
  );

  it('falls back for the first message only', async () => {
    const { server, transport } = await connect(mcp({ request: refuse(405) }));
    await open(transport);
    const gets = (): number => server.seen.filter(({ method }) => method === 'GET').length;
    await server.arrived(({ method }) => method === 'GET');
    expect((await failureOf(transport.send(request(1, 'x')))).failure.http?.status).toBe(405);
    expect(gets()).toBe(1);
    expect(transport.kind).toBe('http');
  });

  it('reports both refusals if neither works', async () => {
    const { server, transport } = await connect((seen, res) =>
      refuse(404, seen.method === 'GET' ? 'no stream' : 'no post')(seen, res),
    );
    await transport.start();
    const { failure, written } = await failureOf(transport.send(INITIALIZE));
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 404, bodyStart: 'no post' } });
    expect(failure.message).toMatch(/no post.*no stream/);
    expect(written).toBe(false);
    await server.idle();
  });

  it('reports the refusal if the older transport opens a stream without an endpoint', async () => {
    const { server, clock, transport, recorded } = await connect((seen, res) => {
      if (seen.method === 'GET') openStream(res);
      else refuse(400, 'X-Api-Version is missing')(seen, res);
    });
    await transport.start();
    const refused = failureOf(transport.send(INITIALIZE));
    await clock.whenSet(10_000);
    await clock.advance(10_000);
    const { failure } = await refused;
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 400 } });
    expect(failure.message).toMatch(/X-Api-Version is missing.*SSE/);
    await server.idle();
    expect(clock.pending).toEqual([]);
    expect(recorded.closes).toBe(0);
  });

  it('gives an older server that opens its stream slowly the time of the handshake', async () => {
    const old = oldOnly(404);
    let openNow = (): void => {};
    const { server, clock, transport, recorded } = await connect((seen, res) => {
      if (seen.method === 'GET') openNow = () => old(seen, res);
      else old(seen, res);
    });
    await transport.start();
    const sent = transport.send(INITIALIZE);
    await server.arrived(({ method }) => method === 'GET');
    await clock.advance(25_000);
    openNow();
    await sent;
    expect(await recorded.answerTo(0)).toEqual(result(0, { old: true }));
    expect(transport.kind).toBe('sse');
  });

  it('requires a sign-in if only that is missing for the older transport', async () => {
    const { transport } = await connect((seen, res) => refuse(seen.method === 'GET' ? 401 : 405)(seen, res));
    await transport.start();
    expect((await failureOf(transport.send(INITIALIZE))).failure.code).toBe('auth-required');
  });

  it('can be closed while it falls back', async () => {
    const { server, transport, recorded } = await connect((seen, res) => {
      if (seen.method === 'POST') refuse(405)(seen, res);
      else openStream(res);
    });
    await transport.start();
    const stuck = failureOf(transport.send(INITIALIZE));
    await server.arrived(({ method }) => method === 'GET');
    await transport.close();
    expect((await stuck).failure.code).toBe('connection-lost');
    expect(recorded.closes).toBe(1);
    await server.idle();
  });

  it('reports why a session of the older transport ended', async () => {
    let stream: Parameters<Handler>[1] | undefined;
    const old = oldOnly(405);
    const { transport, recorded } = await connect((seen, res) => {
      if (seen.method === 'GET') stream = res;
      old(seen, res);
    });
    await open(transport);
    stream?.end();
    await recorded.closed;
    expect(transport.ended).toMatchObject({ code: 'connection-lost' });
  });
});
