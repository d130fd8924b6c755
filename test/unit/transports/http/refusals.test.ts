/** What a refusal says is known even if its body never ends; over both HTTP clients. */
import {
  brotliCompressSync,
  createBrotliCompress,
  createDeflate,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createFetchExchange } from '../../../../src/transports/http/fetch-exchange.js';
import { parseAddress } from '../../../../src/transports/http/server-address.js';
import { NetworkError } from '../../../../src/transports/http/http-exchange.js';
import { notReached } from '../../../../src/transports/http/http-refusal.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE, open, request } from '../../../support/session-record.js';
import { event, mcp, openStream, refuse, result, type Handler } from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const NO_END_MS = 1_000;
const EXCHANGES = [
  { name: 'node:http', openExchange: undefined },
  { name: 'a given fetch', openExchange: () => createFetchExchange(globalThis.fetch) },
] as const;

/** The headers and the start of a body that never ends. */
const endless =
  (status: number, start: string, headers: Record<string, string> = {}): Handler =>
  (_seen, res) =>
    void res.writeHead(status, headers).write(start);

/** A server with a session, which has no timers of its own once its listening stream is open. */
const inSession = (request: Handler): Handler =>
  mcp({ sessionId: 's-1', request, listen: (_seen, res) => void openStream(res) });

const rpcError = (id: unknown, code: number, message: string, data?: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });

describe.each(EXCHANGES)('A refusal whose body never ends, over $name', ({ openExchange }) => {
  it.each([
    [401, { 'www-authenticate': 'Bearer realm="quay"' }, { code: 'auth-required' }],
    [503, { 'retry-after': '7' }, { code: 'http-status' }],
  ])('is known within a second, headers included: %i', async (status, headers, expected) => {
    const { server, clock, transport } = await connect(endless(status, 'come back later', headers), {
      openExchange,
    });
    await transport.start();
    const refused = failureOf(transport.send(INITIALIZE));
    await clock.whenSet(NO_END_MS);
    await clock.advance(NO_END_MS);
    const { failure } = await refused;
    expect(failure).toMatchObject({ ...expected, http: { status } });
    expect(failure.http).toMatchObject(
      status === 503 ? { retryAfterMs: 7_000 } : { wwwAuthenticate: 'Bearer realm="quay"' },
    );
    expect(clock.pending).toEqual([]);
    await transport.close();
    if (openExchange === undefined) await server.idle();
  });

  it('can report that the session is gone', async () => {
    const { server, clock, transport, recorded } = await connect(inSession(endless(404, 'gone')), {
      openExchange,
    });
    await open(transport);
    await server.arrived(({ method }) => method === 'GET');
    const refused = failureOf(transport.send(request(1, 'tools/call')));
    await clock.whenSet(NO_END_MS);
    await clock.advance(NO_END_MS);
    expect(await refused).toMatchObject({ failure: { code: 'session-expired' } });
    await recorded.closed;
    expect(clock.pending).toEqual([]);
  });

  it('leaves the outcome unknown if it started as JSON', async () => {
    const half = rpcError(1, -32_602, 'The session on Monday is booked out').slice(0, -1);
    const { server, clock, transport } = await connect(inSession(endless(400, half)), {
      openExchange,
    });
    await open(transport);
    await server.arrived(({ method }) => method === 'GET');
    const refused = failureOf(transport.send(request(1, 'tools/call')));
    await clock.whenSet(NO_END_MS);
    await clock.advance(NO_END_MS);
    expect(await refused).toMatchObject({ written: true, failure: { code: 'http-status' } });
    expect(transport.ended).toBeUndefined();
  });

  it('does not block close(), which leaves no timer', async () => {
    const { server, clock, transport, recorded } = await connect(inSession(endless(404, 'gone')), {
      openExchange,
    });
    await open(transport);
    await server.arrived(({ method }) => method === 'GET');
    const refused = failureOf(transport.send(request(1, 'tools/call')));
    await clock.whenSet(NO_END_MS);
    await transport.close();
    expect(await refused).toMatchObject({ written: true, failure: { code: 'connection-lost' } });
    expect(recorded.closes).toBe(1);
    expect(clock.pending).toEqual([]);
  });
});

describe('A refusal with the id of its request', () => {
  it.each([
    ['as a number', 400, 7],
    ['as a string', 403, '7'],
  ])('is the answer, %s', async (_, status, id) => {
    const { transport, recorded } = await connect(
      mcp({ sessionId: 's-1', request: refuse(status, rpcError(id, -32_602, 'no such session room')) }),
    );
    await open(transport);
    await transport.send(request(7, 'tools/call'));
    expect(recorded.messages.at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32_602, message: 'no such session room' },
    });
    expect(transport.ended).toBeUndefined();
  });

  it('is the answer if it has a result, or is long', async () => {
    const long = 'a session, '.repeat(4_000);
    const { transport, recorded } = await connect(
      mcp({
        sessionId: 's-1',
        request: (seen, res) =>
          seen.rpc.id === 1
            ? refuse(400, JSON.stringify(result(1, { isError: true, recorded: 'session' })))(seen, res)
            : refuse(400, rpcError(2, -32_602, 'no', long))(seen, res),
      }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await transport.send(request(2, 'tools/call'));
    expect(recorded.messages.slice(1)).toMatchObject([
      { result: { isError: true } },
      { error: { data: long } },
    ]);
  });

  it('ends the session anyway if it is the known error for an unknown session', async () => {
    const forgotten = rpcError(1, -32_000, 'Bad Request: No valid session ID provided');
    const { transport, recorded } = await connect(mcp({ sessionId: 's-1', request: refuse(400, forgotten) }));
    await open(transport);
    expect(await failureOf(transport.send(request(1, 'tools/call')))).toMatchObject({
      written: true,
      failure: { code: 'session-expired' },
    });
    await recorded.closed;
  });

  it.each<[status: number, code: number, message: string, method: string, written: boolean]>([
    [404, -32_001, 'Session not found', 'tools/call', false],
    [404, -32_001, 'Unknown or expired session', 'tools/call', false],
    [404, -32_000, 'Session terminated', 'tools/call', false],
    [404, -32_001, 'Session abc not found', 'tools/call', true],
    [404, -32_000, 'Not Found', 'tools/call', true],
    [404, -32_603, 'Session not found', 'tools/call', true],
    [404, -32_602, 'Session not found', 'ping', true],
    [400, -32_000, 'Invalid or missing session ID', 'tools/call', true],
    [400, -32_000, 'Unknown or expired session', 'tools/call', true],
    [400, -32_000, 'The session has gone away', 'ping', true],
  ])('ends the session with %i, %i and %j, for %s', async (status, code, message, method, written) => {
    const refusal = refuse(status, rpcError(1, code, message));
    const { transport, recorded } = await connect(mcp({ sessionId: 's-1', request: refusal }));
    await open(transport);
    expect(await failureOf(transport.send(request(1, method)))).toMatchObject({
      written,
      failure: { code: 'session-expired' },
    });
    await recorded.closed;
  });

  it.each<[status: number, code: number, message: string]>([
    [404, -32_601, 'Method not found'],
    [404, -32_002, 'Resource not found'],
    [400, -32_000, 'The training session on Monday is fully booked'],
  ])('is the answer of a tool with %i, %i and %j', async (status, code, message) => {
    const refusal = refuse(status, rpcError(1, code, message));
    const { transport, recorded } = await connect(mcp({ sessionId: 's-1', request: refusal }));
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    expect(recorded.messages.at(-1)).toMatchObject({ id: 1, error: { code, message } });
    expect(transport.ended).toBeUndefined();
  });

  it('requires a sign-in anyway', async () => {
    const { transport } = await connect(mcp({ request: refuse(401, rpcError(1, -32_000, 'Unauthorized')) }));
    await open(transport);
    const { failure } = await failureOf(transport.send(request(1, 'tools/call')));
    expect(failure.code).toBe('auth-required');
    expect(failure.hint).toMatch(/'headers'.*Authorization/);
  });

  it('is not an answer if its error is null', async () => {
    const odd = '{"jsonrpc":"2.0","id":null,"error":null}';
    const { transport } = await connect(mcp({ sessionId: 's-1', request: refuse(400, odd) }));
    await open(transport);
    const { failure } = await failureOf(transport.send(request(1, 'tools/call')));
    expect(failure).toMatchObject({ code: 'http-status', http: { bodyStart: odd } });
    expect(failure).not.toHaveProperty('rpcCode');
  });

  it.each(['server-error', '', null])('is not an answer with another id: %j', async (id) => {
    const { transport, recorded } = await connect(
      mcp({
        sessionId: 's-1',
        request: refuse(400, rpcError(id, -32_600, 'Bad Request: Missing session ID')),
      }),
    );
    await open(transport);
    expect(await failureOf(transport.send(request(1, 'tools/call')))).toMatchObject({
      written: false,
      failure: { code: 'session-expired' },
    });
    await recorded.closed;
  });
});

it('A byte order mark before a JSON answer is ignored', async () => {
  const { transport, recorded } = await connect(
    mcp({
      request: ({ rpc }, res) =>
        void res
          .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
          .end(`\ufeff${JSON.stringify(result(rpc.id, { done: true }))}`),
    }),
  );
  await open(transport);
  await transport.send(request(1, 'tools/call'));
  expect(recorded.messages.at(-1)).toEqual(result(1, { done: true }));
});

const PACKERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  'deflate, gzip': (text: string) => gzipSync(deflateSync(text)),
} as const;

it.each([...Object.entries(PACKERS), ['deflate', deflateRawSync] as const])(
  'An answer with an unrequested encoding is decoded: %s',
  async (coding, pack) => {
    const { transport, recorded } = await connect((seen, res) => {
      const isStream = seen.rpc.id === 1;
      const answer = JSON.stringify(result(seen.rpc.id, { text: 'ä'.repeat(40_000) }));
      res.writeHead(200, {
        'content-type': isStream ? 'text/event-stream' : 'application/json',
        'content-encoding': coding,
      });
      res.end(pack(isStream ? `data: ${answer}\n\n` : answer));
    });
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    for (const id of [0, 1])
      expect(await recorded.answerTo(id)).toEqual(result(id, { text: 'ä'.repeat(40_000) }));
  },
);

it.each([
  ['gzip', createGzip],
  ['br', createBrotliCompress],
  ['deflate', createDeflate],
] as const)('An encoded event is read before its stream ends: %s', async (coding, make) => {
  const { transport, recorded } = await connect((seen, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': coding });
    const packer = make();
    packer.pipe(res);
    packer.write(event(result(seen.rpc.id, {})));
    packer.flush();
  });
  await transport.start();
  await transport.send(INITIALIZE);
  expect(await recorded.answerTo(0)).toEqual(result(0, {}));
});

it('A refusal with an unrequested encoding is decoded', async () => {
  const { transport } = await connect((_seen, res) => {
    res.writeHead(500, { 'content-encoding': 'gzip' });
    res.end(gzipSync('no room'));
  });
  await transport.start();
  expect((await failureOf(transport.send(INITIALIZE))).failure.http).toMatchObject({ bodyStart: 'no room' });
});

it('A truncated encoded answer is not an answer', async () => {
  const { transport } = await connect((seen, res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    res.end(gzipSync(JSON.stringify(result(seen.rpc.id, { text: 'x'.repeat(90) }))).subarray(0, -20));
  });
  await transport.start();
  expect((await failureOf(transport.send(INITIALIZE))).failure.code).not.toBe('internal');
});

it.each([200, 500])(
  'A body with an unknown encoding is reported by name, and not shown: HTTP %i',
  async (status) => {
    const { transport } = await connect((_seen, res) => {
      res.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'compress' });
      res.end(gzipSync(JSON.stringify(result(0, {}))));
    });
    await transport.start();
    const { failure } = await failureOf(transport.send(INITIALIZE));
    expect(failure.message).toContain("'compress'");
    expect(failure.message).not.toContain('\ufffd');
  },
);

it('An event stream with an unknown encoding is reported by name, even if it does not end', async () => {
  const { clock, transport } = await connect((_seen, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'compress' });
    res.write(gzipSync(event(result(0, {}))));
  });
  await transport.start();
  const refused = failureOf(transport.send(INITIALIZE));
  await clock.whenSet(NO_END_MS);
  await clock.advance(NO_END_MS);
  const { failure } = await refused;
  expect(failure.code).toBe('http-not-mcp');
  expect(failure.message).toContain("'compress'");
});

it("An event stream with the encoding 'none' is read", async () => {
  const { transport, recorded } = await connect((seen, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'none' });
    res.end(event(result(seen.rpc.id, {})));
  });
  await transport.start();
  await transport.send(INITIALIZE);
  expect(await recorded.answerTo(0)).toEqual(result(0, {}));
});

it('An event stream that the given fetch has decoded is read', async () => {
  const { transport, recorded } = await connect(
    (seen, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      res.end(gzipSync(event(result(seen.rpc.id, {}))));
    },
    { openExchange: () => createFetchExchange(globalThis.fetch) },
  );
  await transport.start();
  await transport.send(INITIALIZE);
  expect(await recorded.answerTo(0)).toEqual(result(0, {}));
});

it.each([
  ['ERR_TLS_CERT_ALTNAME_INVALID', false, 'name'],
  ['CERT_HAS_EXPIRED', false, 'time'],
  ['CERT_UNTRUSTED', false, 'NODE_EXTRA_CA_CERTS'],
  ['HPE_INVALID_CONSTANT', true, 'HTTP'],
  ['HPE_HEADER_OVERFLOW', true, '--max-http-header-size'],
])('A failed connection has a matching hint: %s', (code, connected, hint) => {
  const { failure } = notReached(
    new NetworkError(code, connected, undefined),
    parseAddress('https://a.example/mcp').place,
  );
  expect(failure.message).toContain(`(${code})`);
  expect(failure.hint).toContain(hint);
});

it.each([302, 307])('A redirect loop is reported as such: %i', async (status) => {
  const { transport } = await connect(refuse(status, '', { location: '/mcp' }));
  await transport.start();
  const { failure } = await failureOf(transport.send(INITIALIZE));
  expect(failure.message).toMatch(/too often/);
  expect(failure.message).not.toContain('not followed');
});

it('An error page is shown without its tags, scripts and styles', async () => {
  const page = `<!DOCTYPE html><html><head><title>Not here</title><style>p { color: red }</style><script>track('x')</script></head>
    <body><!-- old --><p class="a">Ask the <b>desk</b>.</p></body></html>`;
  const { transport } = await connect((_seen, res) => {
    res.writeHead(403, { 'content-type': 'text/html' });
    res.end(page);
  });
  await transport.start();
  const { failure } = await failureOf(transport.send(INITIALIZE));
  expect(failure.http?.bodyStart).toBe('Not here Ask the desk .');
});
