/** Messages in both directions, and the handling of refusals; over both HTTP clients. */
import { afterEach, describe, expect, it } from 'vitest';
import { MESSAGE_TOO_LARGE } from '../../../../src/transports/message-limits.js';
import { classify } from '../../../../machines/policy/failure.js';
import type { SessionTransport } from '../../../../src/transports/session-transport.js';
import { isAsProtected } from '../../../../src/transports/http/server-address.js';
import { createFetchExchange } from '../../../../src/transports/http/fetch-exchange.js';
import type { MessageLimits } from '../../../../src/json/parse-json.js';
import { createStreamableHttpTransport } from '../../../../src/transports/http/streamable-http.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import {
  failureOf,
  INITIALIZE,
  notification,
  open,
  record,
  request,
  type SessionRecord,
} from '../../../support/session-record.js';
import {
  answer,
  echo,
  event,
  mcp,
  openStream,
  refuse,
  result,
  startServer,
  type Handler,
  type McpParts,
  type TestServer,
} from '../../../support/http-server.js';

useLeakCheck();

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const EXCHANGES = [
  { name: 'node:http', openExchange: undefined },
  { name: 'a given fetch', openExchange: () => createFetchExchange(globalThis.fetch) },
] as const;

describe.each(EXCHANGES)('The streamable HTTP transport over $name', ({ openExchange }) => {
  const clock = createControlledClock();

  async function connect(
    handle: Handler | McpParts,
    options: { headers?: Record<string, string>; path?: string; limits?: MessageLimits } = {},
  ): Promise<{ server: TestServer; transport: SessionTransport; recorded: SessionRecord }> {
    const server = await startServer(typeof handle === 'function' ? handle : mcp(handle));
    const { path = '/mcp', ...rest } = options;
    const url = `${server.origin}${path}`;
    const transport = createStreamableHttpTransport({
      url,
      clock,
      openExchange,
      stop: { deleteMs: 1_000 },
      ...rest,
    });
    closing.push(
      () => server.close(),
      () => transport.close(),
    );
    return { server, transport, recorded: record(transport) };
  }

  it('posts each message with the headers that the specification requires', async () => {
    const { server, transport } = await connect({ sessionId: 's-1' });
    await open(transport);
    await transport.send(request(1, 'tools/list'));

    const [first, second, third] = await server.arrived(({ method }) => method === 'POST', 3);
    expect(first?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    });
    expect(first?.headers).not.toHaveProperty('mcp-session-id');
    expect(first?.headers).not.toHaveProperty('mcp-protocol-version');
    for (const later of [second, third]) {
      expect(later?.headers).toMatchObject({ 'mcp-session-id': 's-1', 'mcp-protocol-version': '2025-11-25' });
    }
    expect(transport.sessionId).toBe('s-1');
  });

  it('delivers a JSON answer', async () => {
    const { transport, recorded } = await connect({});
    await open(transport);
    await transport.send(request(7, 'tools/list'));
    expect(recorded.messages.at(-1)).toEqual(result(7, { method: 'tools/list' }));
  });

  it('delivers everything on an event stream in order, however it is split', async () => {
    const { transport, recorded } = await connect({
      request: (seen, res) => {
        const text =
          ': hello\r\n\r\n' +
          event({ jsonrpc: '2.0', method: 'notifications/progress', params: { text: '灯笼 🏮' } }) +
          event(result(seen.rpc.id, { done: 'é' }));
        openStream(res);
        for (const byte of Buffer.from(text)) res.write(Buffer.of(byte));
        res.end();
      },
    });
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    await recorded.answerTo(1);
    expect(recorded.messages.slice(-2)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { text: '灯笼 🏮' } },
      result(1, { done: 'é' }),
    ]);
  });

  it('sends cookies back until the session ends', async () => {
    const handle: Handler = (seen, res) => {
      if (seen.headers.cookie === 'own=1')
        res.setHeader('set-cookie', ['lane=7; Path=/; HttpOnly', 'zone=b']);
      mcp({ sessionId: 's-1' })(seen, res);
    };
    const { server, transport } = await connect(handle, { headers: { Cookie: 'own=1' } });
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    const [first, second, third] = await server.arrived(({ method }) => method === 'POST', 3);
    expect(first?.headers.cookie).toBe('own=1');
    expect([second?.headers.cookie, third?.headers.cookie]).toEqual([
      'own=1; lane=7; zone=b',
      'own=1; lane=7; zone=b',
    ]);
  });

  it.each([
    'application/json;charset=UTF-8',
    'Application/JSON ; charset="utf-8"; x=y',
    'application/json, application/json',
    'text/json',
    'text/plain; charset=utf-8',
    'application/vnd.api+json',
    'application/octet-stream',
    '',
  ])('reads JSON that is sent as %j', async (type) => {
    const { transport, recorded } = await connect({
      request: (seen, res) => {
        if (type !== '') res.setHeader('content-type', type);
        res.setHeader('trailer', 'x-checksum');
        res.write('\n ');
        res.write(JSON.stringify(result(seen.rpc.id, { read: true })));
        res.addTrailers({ 'x-checksum': '1' });
        res.end();
      },
    });
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(recorded.messages.at(-1)).toEqual(result(1, { read: true }));
  });

  it.each([
    'text/event-stream;charset=utf-8',
    'Text/Event-Stream; q=1;',
    'text/event-stream, text/event-stream',
  ])('reads an event stream that is sent as %j', async (type) => {
    const { transport, recorded } = await connect({
      request: (seen, res) => {
        res.writeHead(200, { 'content-type': type });
        res.end(event(result(seen.rpc.id, { read: true })));
      },
    });
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(await recorded.answerTo(1)).toEqual(result(1, { read: true }));
  });

  it.each(['text/plain', '', 'text/html'])('refuses text that is no JSON, sent as %j', async (type) => {
    const { transport } = await connect((_seen, res) => {
      if (type !== '') res.setHeader('content-type', type);
      res.write('Welcome');
    });
    await transport.start();
    const refused = failureOf(transport.send(INITIALIZE));
    await clock.whenSet(1_000);
    await clock.advance(1_000);
    const { failure } = await refused;
    expect(failure).toMatchObject({ code: 'http-not-mcp', http: { status: 200, bodyStart: 'Welcome' } });
  });

  it('delivers every message of a batch', async () => {
    const { transport, recorded } = await connect({
      request: (seen, res) => {
        res.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
        res.end(JSON.stringify([{ jsonrpc: '2.0', method: 'notifications/a' }, result(seen.rpc.id, {})]));
      },
    });
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(recorded.messages.slice(-2)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/a' },
      result(1, {}),
    ]);
  });

  it('keeps 64 requests in flight at once', async () => {
    const held: (() => void)[] = [];
    const { transport, recorded } = await connect({
      request: (seen, res) => {
        held.push(() => answer(res, seen, {}));
        if (held.length === 64) for (const release of held) release();
      },
    });
    await open(transport);
    await Promise.all(Array.from({ length: 64 }, (_, i) => transport.send(request(i + 1, 'tools/call'))));
    expect(recorded.messages).toHaveLength(65);
  });

  it('sends configured headers, and credentials in the address as basic credentials', async () => {
    const { server, transport } = await connect(mcp(), {
      headers: { 'X-Harbour': 'north', Accept: 'text/html' },
    });
    await open(transport);
    expect(server.seen[0]?.headers).toMatchObject({
      'x-harbour': 'north',
      accept: 'application/json, text/event-stream',
    });

    const withUser = createStreamableHttpTransport({
      url: server.url.replace('http://', 'http://anna:p%40ss@'),
      clock,
      openExchange,
      stop: { deleteMs: 0 },
    });
    closing.push(() => withUser.close());
    await open(withUser);
    const basic = `Basic ${Buffer.from('anna:p@ss').toString('base64')}`;
    expect(server.seen.filter(({ headers }) => headers.authorization === basic)).toHaveLength(2);
    expect(withUser.url).toBe(server.url);
  });

  it('shows its address without credentials, query and hash', async () => {
    const { transport } = await connect({}, { path: '/mcp?key=secret-1#part' });
    expect(transport.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  });

  describe('if a status refuses', () => {
    it('rejects with status, cleaned start of the body and Retry-After', async () => {
      const body = `too\u0000 many\u001b[31m\n${'x'.repeat(2_000)}`;
      const { transport } = await connect(mcp({ initialize: refuse(429, body, { 'retry-after': '3' }) }));
      await transport.start();
      const error = await failureOf(transport.send(INITIALIZE));
      expect(error.failure).toMatchObject({
        code: 'http-status',
        http: { status: 429, retryAfterMs: 3_000 },
      });
      expect(error.failure.http?.bodyStart).toHaveLength(500);
      expect(error.failure.http?.bodyStart).toMatch(/^too many \[31m x+$/);
      expect(error.message).toContain('429 Too Many Requests');
      expect(error.written).toBe(false);
    });

    it.each([
      [403, 'permanent'],
      [400, 'permanent'],
      [503, 'retry'],
    ])('reports HTTP %i with its reason, which is %s', async (status, verdict) => {
      const { transport } = await connect(
        mcp({ initialize: refuse(status, 'your plan does not include ferries') }),
      );
      await transport.start();
      const { failure, written } = await failureOf(transport.send(INITIALIZE));
      expect(failure.message).toContain('your plan does not include ferries');
      expect(classify({ ...failure, phase: 'handshake', at: 0 })).toBe(verdict);
      expect(written).toBe(status >= 500);
    });

    it('keeps the code of a JSON-RPC error in the body', async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 0, error: { code: -32_000, message: 'too new' } });
      const { transport } = await connect(mcp({ initialize: refuse(400, body) }));
      await transport.start();
      expect((await failureOf(transport.send(INITIALIZE))).failure.rpcCode).toBe(-32_000);
    });

    it('masks repeated headers and queries', async () => {
      const echoing: Handler = (seen, res) =>
        void res.writeHead(400).end(`bad ${seen.path} with ${seen.headers.authorization}`);
      const { transport } = await connect(echoing, {
        path: '/mcp?apiKey=harbour-key-2',
        headers: { Authorization: 'Bearer harbour-key-1' },
      });
      await transport.start();
      const error = await failureOf(transport.send(INITIALIZE));
      expect(error.failure.http?.bodyStart).toContain('***');
      expect(JSON.stringify(error.failure)).not.toMatch(/harbour-key/);
    });
  });

  describe('if a reply is not MCP', () => {
    it('names the content type and the page', async () => {
      const page = refuse(200, '<!doctype html><title>Harbour sign-in</title>', {
        'content-type': 'text/html',
      });
      const { server, transport } = await connect(page);
      await transport.start();
      const { failure } = await failureOf(transport.send(INITIALIZE));
      expect(failure).toMatchObject({ code: 'http-not-mcp', http: { status: 200 } });
      expect(failure.message).toContain('text/html');
      expect(failure.message).toContain('Harbour sign-in');
      expect(failure.message).toContain(server.url);
    });

    it.each([
      ['JSON of another kind', '{"error":"no"}'],
      ['text that is not JSON', 'oops'],
    ])('rejects %s', async (_, body) => {
      const { transport } = await connect(refuse(200, body, { 'content-type': 'application/json' }));
      await transport.start();
      const { failure } = await failureOf(transport.send(INITIALIZE));
      expect(failure.code).toBe('http-not-mcp');
      expect(failure.http?.bodyStart).toBe(body);
    });

    it('rejects with the error of an answer without an id', async () => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_700, message: 'Parse error' },
      });
      const { transport } = await connect(refuse(200, body, { 'content-type': 'application/json' }));
      await transport.start();
      const { failure } = await failureOf(transport.send(INITIALIZE));
      expect(failure).toMatchObject({ code: 'protocol-error', rpcCode: -32_700 });
      expect(failure.message).toContain('Parse error');
    });
  });

  describe('if there is a redirect', () => {
    const slash: Handler = (seen, res) => {
      if (seen.path === '/mcp/') mcp({ sessionId: 's-1' })(seen, res);
      else res.writeHead(307, { location: '/mcp/' }).end();
    };

    it.each([301, 302, 307, 308])(
      'follows %i within the origin with method, body and headers',
      async (status) => {
        const { server, transport, recorded } = await connect(
          (seen, res) =>
            seen.path === '/mcp/'
              ? slash(seen, res)
              : void res.writeHead(status, { location: '/mcp/' }).end(),
          { headers: { Authorization: 'Bearer harbour-key-1' } },
        );
        await open(transport);
        await transport.send(request(1, 'tools/list'));
        expect(recorded.messages).toHaveLength(2);
        const followed = server.seen.filter(({ path }) => path === '/mcp/');
        expect(followed.filter(({ method }) => method === 'POST')).toHaveLength(3);
        expect(followed.every(({ headers }) => headers.authorization === 'Bearer harbour-key-1')).toBe(true);
      },
    );

    it.each([301, 302, 303])(
      'does not repeat a call that may have run if %i redirects it',
      async (status) => {
        const { server, transport } = await connect({
          sessionId: 's-1',
          request: refuse(status, '', { location: '/result/1' }),
        });
        await open(transport);
        const { failure, written } = await failureOf(transport.send(request(1, 'tools/call')));
        expect(written).toBe(true);
        expect(failure).toMatchObject({ code: 'http-status', http: { status } });
        expect(failure.message).toMatch(/\/result\/1/);
        expect(server.seen.filter(({ rpc }) => rpc.method === 'tools/call')).toHaveLength(1);
        expect(server.seen.filter(({ path }) => path === '/result/1')).toHaveLength(0);
        expect(transport.ended).toBeUndefined();
      },
    );

    it.each([307, 308])('sends a call to the target of %i', async (status) => {
      const { server, transport, recorded } = await connect({
        request: (seen, res) =>
          (seen.path === '/other' ? echo : refuse(status, '', { location: '/other' }))(seen, res),
      });
      await open(transport);
      await transport.send(request(1, 'tools/call'));
      expect(recorded.messages.at(-1)).toEqual(result(1, { method: 'tools/call' }));
      expect(server.seen.filter(({ rpc }) => rpc.id === 1).map(({ path }) => path)).toEqual([
        '/mcp',
        '/other',
      ]);
    });

    it.each([307, 308, 301, 302])(
      'follows a redirect to another origin without credentials: %i',
      async (status) => {
        const other = await startServer(mcp({ sessionId: 's-2' }));
        closing.push(() => other.close());
        const { server, transport, recorded } = await connect(
          (_seen, res) =>
            refuse(status, '', { location: `${other.url}?session=abcdef1`, 'set-cookie': 'lane=1' })(
              _seen,
              res,
            ),
          { headers: { Authorization: 'Bearer abcdefgh', 'x-key': 'k', cookie: 'own=1' } },
        );
        await open(transport);
        await transport.send(request(1, 'tools/list'));
        expect(await recorded.answerTo(1)).toEqual(result(1, { method: 'tools/list' }));
        expect(server.seen).toHaveLength(1);
        expect(other.seen[0]?.rpc).toMatchObject({ method: 'initialize' });
        expect(other.seen.at(-1)?.headers).toMatchObject({ 'mcp-session-id': 's-2' });
        for (const { headers } of other.seen) {
          for (const secret of ['authorization', 'x-key', 'cookie'])
            expect(headers).not.toHaveProperty(secret);
        }
        const redirects = recorded.notices.filter(({ kind }) => kind === 'redirect-followed');
        expect(redirects).toHaveLength(1);
        expect(redirects[0]?.message).toContain(server.url);
        expect(redirects[0]?.message).toContain(other.url);
        expect(redirects[0]?.message).not.toContain('abcdef1');
      },
    );

    it.each([401, 403, 404])('names both addresses when the second refuses: %i', async (status) => {
      const other = await startServer(refuse(status));
      closing.push(() => other.close());
      const { server, transport } = await connect(refuse(307, '', { location: `${other.url}?key=abcdef1` }));
      await transport.start();
      const { failure } = await failureOf(transport.send(INITIALIZE));
      expect(failure).toMatchObject({ code: 'http-status', http: { status } });
      expect(failure.message).toContain(server.url);
      expect(failure.message).toContain(other.url);
      expect(failure.message).not.toContain('abcdef1');
    });

    it('does not move on to a place that is less protected, or to this computer', async () => {
      const far = new URL('https://far.example/mcp');
      for (const [from, to] of [
        [far, 'http://far.example/mcp'],
        [far, 'https://localhost/mcp'],
        [new URL('http://far.example/mcp'), 'http://other.example/mcp'],
        [new URL('http://far.example/mcp'), 'http://127.0.0.1/mcp'],
      ] as const)
        expect(isAsProtected(from, new URL(to))).toBe(false);
      expect(isAsProtected(far, new URL('https://www.far.example/mcp'))).toBe(true);
    });

    it('does not leave its origin later', async () => {
      const other = await startServer(mcp());
      closing.push(() => other.close());
      const { transport } = await connect({
        request: refuse(307, '', { location: `${other.url}?session=abcdef1` }),
      });
      await open(transport);
      const { failure } = await failureOf(transport.send(request(1, 'tools/call')));
      expect(failure).toMatchObject({ code: 'http-status', http: { status: 307 } });
      expect(failure.message).toContain(other.url);
      expect(failure.message).not.toContain('abcdef1');
      expect(other.seen).toHaveLength(0);
    });

    it('gives up on a loop', async () => {
      const { server, transport } = await connect(refuse(307, '', { location: '/mcp' }));
      await transport.start();
      expect((await failureOf(transport.send(INITIALIZE))).failure.http?.status).toBe(307);
      expect(server.seen).toHaveLength(6);
    });

    it('does not turn a message into a GET', async () => {
      const { server, transport } = await connect(refuse(303, '', { location: '/login' }));
      await transport.start();
      expect((await failureOf(transport.send(INITIALIZE))).failure.http?.status).toBe(303);
      expect(server.seen).toHaveLength(1);
    });
  });

  describe('if nothing answers', () => {
    it('names host, port and cause of a refused connection', async () => {
      const server = await startServer(echo);
      await server.close();
      const transport = createStreamableHttpTransport({
        url: server.url,
        clock,
        openExchange,
        stop: { deleteMs: 0 },
      });
      closing.push(() => transport.close());
      await transport.start();
      const { failure, written } = await failureOf(transport.send(INITIALIZE));
      expect(failure.code).toBe('address-refused');
      expect(failure.message).toContain(new URL(server.url).host);
      expect(failure.message).toContain('ECONNREFUSED');
      expect(written).toBe(false);
    });

    it('names an unknown host', async () => {
      const url = 'http://no-such-host.invalid/mcp';
      const transport = createStreamableHttpTransport({ url, clock, openExchange, stop: { deleteMs: 0 } });
      closing.push(() => transport.close());
      await transport.start();
      const { failure } = await failureOf(transport.send(INITIALIZE));
      expect(failure.code).toBe('address-refused');
      expect(failure.message).toMatch(/no-such-host\.invalid:80 .*(ENOTFOUND|EAI_AGAIN)/);
    });

    it('reports a server without TLS', async () => {
      const server = await startServer(echo);
      closing.push(() => server.close());
      const url = server.url.replace('http:', 'https:');
      const transport = createStreamableHttpTransport({ url, clock, openExchange, stop: { deleteMs: 0 } });
      closing.push(() => transport.close());
      await transport.start();
      const { failure, written } = await failureOf(transport.send(INITIALIZE));
      expect(failure.code).toBe('address-refused');
      expect(written).toBe(false);
    });

    it('reports that a message may have arrived if the connection broke after it was sent', async () => {
      const { transport } = await connect((_seen, res) => void res.destroy());
      await transport.start();
      const { failure, written } = await failureOf(transport.send(INITIALIZE));
      expect(failure.code).toBe('connection-lost');
      expect(written).toBe(true);
    });

    it('rejects if a JSON answer breaks off', async () => {
      const { transport } = await connect({
        request: (_seen, res) => {
          res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
          res.write('{"jsonrpc":', () => res.destroy());
        },
      });
      await open(transport);
      const { failure, written } = await failureOf(transport.send(request(1, 'tools/call')));
      expect(failure.code).toBe('connection-lost');
      expect(written).toBe(true);
    });
  });

  it('fails only the request whose answer is above the size limit', async () => {
    const { transport, recorded } = await connect(
      {
        request: (seen, res) =>
          answer(res, seen, { text: 'x'.repeat(seen.rpc.method === 'big' ? 5_000 : 10) }),
      },
      { limits: { remoteMessageBytes: 2_000 } },
    );
    await open(transport);
    await transport.send(request(1, 'big'));
    await transport.send(request(2, 'small'));
    expect(await recorded.answerTo(1)).toMatchObject({
      error: { code: MESSAGE_TOO_LARGE, message: expect.stringContaining('limits.remoteMessageBytes') },
    });
    expect(recorded.notices.map(({ kind }) => kind)).toContain('message-too-large');
    expect(recorded.messages.at(-1)).toMatchObject({ id: 2 });
    expect(transport.ended).toBeUndefined();
  });

  it('fails only the request whose answer is beyond a limit of JSON', async () => {
    const { transport, recorded } = await connect(
      {
        request: (seen, res) =>
          answer(res, seen, { list: Array.from({ length: seen.rpc.method === 'big' ? 100 : 1 }, () => 0) }),
      },
      { limits: { structuralCharacters: 60 } },
    );
    await open(transport);
    await transport.send(request(1, 'big'));
    await transport.send(request(2, 'small'));
    expect(await recorded.answerTo(1)).toMatchObject({
      error: { code: MESSAGE_TOO_LARGE, message: expect.stringContaining('limits.structuralCharacters') },
    });
    expect(recorded.messages.at(-1)).toMatchObject({ id: 2 });
    expect(transport.ended).toBeUndefined();
  });

  it('reports signs of life', async () => {
    const { transport, recorded } = await connect({});
    await open(transport);
    expect(recorded.activity).toBeGreaterThanOrEqual(2);
  });

  it('refuses a message before the start and after the end', async () => {
    const { server, transport } = await connect({});
    expect(await failureOf(transport.send(INITIALIZE))).toMatchObject({ written: false });
    await open(transport);
    await transport.close();
    const seen = server.seen.length;
    expect(await failureOf(transport.send(notification('notifications/x')))).toMatchObject({
      written: false,
    });
    expect(server.seen).toHaveLength(seen);
  });
});

describe('A streamable HTTP transport that cannot start', () => {
  const clock = createControlledClock();
  const create = (url: string, headers: Record<string, string> = {}): SessionTransport =>
    createStreamableHttpTransport({ url, headers, clock, stop: { deleteMs: 0 } });

  it.each(['ftp://files.example/mcp', 'file:///etc/passwd', 'not an address', ''])(
    'refuses %j',
    async (url) => {
      const { failure } = await failureOf(create(url).start());
      expect(failure.code).toBe('config-invalid');
    },
  );

  it('names a header that cannot be sent, but not its value', async () => {
    const { failure } = await failureOf(create('http://127.0.0.1:1/', { Token: 'abc\ndef' }).start());
    expect(failure.code).toBe('config-invalid');
    expect(failure.message).toContain('Token');
    expect(failure.message).not.toContain('abc');
  });

  it('can be started only once', async () => {
    const transport = create('http://127.0.0.1:1/');
    await transport.start();
    expect((await failureOf(transport.start())).failure.code).toBe('internal');
    await transport.close();
  });
});
