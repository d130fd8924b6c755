/** The older HTTP+SSE transport: the stream is the session. */
import { describe, expect, it } from 'vitest';
import { MESSAGE_TOO_LARGE } from '../../../../src/transports/message-limits.js';
import { createSseTransport } from '../../../../src/transports/http/sse.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture, type Connect, type Fixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE, notification, open, request } from '../../../support/session-record.js';
import { event, openStream, refuse, result, type Handler } from '../../../support/http-server.js';

useLeakCheck();
const fixture = useHttpFixture();
const connect = (handle: Handler, options: Parameters<Connect>[1] = {}): Promise<Fixture> =>
  fixture(handle, { ...options, create: createSseTransport });

/** A correct server that answers on its one stream. `post` may replace its handling of messages. */
function sse(post?: Handler): Handler & { stream?: Parameters<Handler>[1] } {
  const handle: Handler & { stream?: Parameters<Handler>[1] } = (seen, res) => {
    if (seen.method === 'GET') {
      handle.stream = openStream(res);
      handle.stream.write('event: endpoint\ndata: /messages?boat=7\n\n');
    } else if (post !== undefined) {
      post(seen, res);
    } else {
      res.writeHead(202).end('Accepted');
      if (seen.rpc.id !== undefined)
        handle.stream?.write(event(result(seen.rpc.id, { method: seen.rpc.method })));
    }
  };
  return handle;
}

describe('The SSE transport', () => {
  it('starts once the server has sent an endpoint, and posts there', async () => {
    const { server, transport, recorded } = await connect(sse(), {
      headers: { Authorization: 'Bearer harbour-key-1' },
    });
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(await recorded.answerTo(1)).toEqual(result(1, { method: 'tools/list' }));
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /mcp',
      'POST /messages?boat=7',
      'POST /messages?boat=7',
      'POST /messages?boat=7',
    ]);
    expect(server.seen.every(({ headers }) => headers.authorization === 'Bearer harbour-key-1')).toBe(true);
    expect(server.seen[0]?.headers.accept).toBe('text/event-stream');
    expect(transport.kind).toBe('sse');
  });

  it.each([
    ['a path', '/messages?boat=7', '/messages?boat=7'],
    ['a relative path', 'messages?boat=7', '/tools/messages?boat=7'],
    ['a query', '?boat=7', '/tools/sse?boat=7'],
    ['a whole address', 'ORIGIN/messages?boat=7', '/messages?boat=7'],
    ['an address with https', 'HTTPS/messages?boat=7', '/messages?boat=7'],
    ['an address inside its network', 'http://mcp.internal:8000/messages?boat=7', '/messages?boat=7'],
  ])('posts where the server says, by %s, and never to another origin', async (_title, named, path) => {
    let stream: Parameters<Handler>[1] | undefined;
    const { transport, server, recorded } = await connect(
      (seen, res) => {
        if (seen.method === 'GET') {
          stream = openStream(res);
          const data = named
            .replace('ORIGIN', server.origin)
            .replace('HTTPS', server.origin.replace('http:', 'https:'));
          return void stream.write(`: hello\r\nevent:endpoint\r\ndata:${data}\r\n\r\n`);
        }
        res.writeHead(202).end();
        if (seen.rpc.id === undefined) return;
        // Without the name of the event, over several lines, with a comment in between.
        const [start = '', rest = ''] = JSON.stringify(result(seen.rpc.id, {}), null, 1).split(/\n(.*)/s);
        stream?.write(`data: ${start}\r\n: so far\r\ndata: ${rest.replaceAll('\n', '\r\ndata: ')}\r\n\r\n`);
      },
      { path: '/tools/sse' },
    );
    await open(transport);
    expect(await recorded.answerTo(0)).toEqual(result(0, {}));
    expect(new Set(server.seen.slice(1).map((seen) => seen.path))).toEqual(new Set([path]));
    expect(recorded.notices.map(({ kind }) => kind)).toEqual(
      named.includes('internal') || named.startsWith('HTTPS') ? ['protocol-oddity'] : [],
    );
  });

  it.each([404, 405])(
    'finds the address below the path of the stream if a proxy has removed that: %i',
    async (status) => {
      const old = sse();
      const { transport, server, recorded } = await connect(
        (seen, res) => {
          if (seen.path.startsWith('/house/tools/')) old(seen, res);
          else refuse(status)(seen, res);
        },
        { path: '/house/tools/sse' },
      );
      await open(transport);
      await transport.send(request(1, 'tools/list'));
      expect(await recorded.answerTo(1)).toBeDefined();
      expect(server.seen.slice(1).map(({ path }) => path)).toEqual([
        '/messages?boat=7',
        ...Array.from({ length: 3 }, () => '/house/tools/messages?boat=7'),
      ]);
      expect(recorded.notices.map(({ kind }) => kind)).toEqual(['protocol-oddity']);
    },
  );

  it('reports the refusal at the named address if there is none below the path either', async () => {
    const old = sse((seen, res) =>
      refuse(404, seen.path.startsWith('/a/') ? 'below' : 'as named')(seen, res),
    );
    const { transport, server } = await connect(old, { path: '/a/b/sse' });
    await transport.start();
    const { failure } = await failureOf(transport.send(INITIALIZE));
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 404, bodyStart: 'as named' } });
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/a/b/sse',
      '/messages?boat=7',
      '/a/b/messages?boat=7',
      '/a/messages?boat=7',
    ]);
  });

  it('waits for an address that is named late', async () => {
    let stream: Parameters<Handler>[1] | undefined;
    const { transport, server, clock } = await connect((_seen, res) => (stream = openStream(res)));
    const started = transport.start();
    await server.arrived(({ method }) => method === 'GET');
    await clock.advance(25_000);
    stream?.write('event: endpoint\ndata: /messages\n\n');
    await started;
    expect(server.seen).toHaveLength(1);
  });

  it('starts from the address that a redirect leads to', async () => {
    const old = sse();
    const { transport, server } = await connect((seen, res) => {
      if (seen.path === '/mcp') refuse(307, '', { location: '/v2/sse/' })(seen, res);
      else old(seen, res);
    });
    await open(transport);
    expect(server.seen.map(({ path }) => path).slice(0, 3)).toEqual(['/mcp', '/v2/sse/', '/messages?boat=7']);
  });

  it('reads an answer in the reply to its POST, once', async () => {
    const { transport, recorded } = await connect(
      sse((seen, res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        res.end(JSON.stringify(result(seen.rpc.id, { direct: true })));
      }),
    );
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(recorded.messages.at(-1)).toEqual(result(1, { direct: true }));
  });

  it.each([400, 405, 500, 501])('goes on if a notification is refused: %i', async (status) => {
    const old = sse();
    const { transport, recorded } = await connect((seen, res) =>
      (seen.method === 'POST' && seen.rpc.id === undefined ? refuse(status) : old)(seen, res),
    );
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(await recorded.answerTo(1)).toBeDefined();
    expect(recorded.notices.map(({ kind }) => kind)).toEqual(['protocol-oddity']);
  });

  it.each<[string, Handler, string, RegExp]>([
    ['a status', refuse(403, 'members only'), 'http-status', /403.*members only/],
    [
      'a page',
      refuse(200, '<html>Sign in', { 'content-type': 'text/html' }),
      'http-not-mcp',
      /text\/html.*Sign in/,
    ],
    ['a stream that ends', (_seen, res) => void openStream(res).end(), 'connection-lost', /ended|before/],
    ['a stream that is cut', (_seen, res) => void openStream(res).destroy(), 'connection-lost', /broke/],
  ])('does not start if it gets %s, and leaves nothing', async (_, handle, code, cause) => {
    const { server, transport, recorded } = await connect(handle);
    const { failure } = await failureOf(transport.start());
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(cause);
    await server.idle();
    expect(recorded.closes).toBe(0);
    expect(transport.ended).toBeUndefined();
  });

  it('ends at close() although its stream sends no endpoint', async () => {
    const { server, transport } = await connect((_seen, res) => void openStream(res));
    const starting = failureOf(transport.start());
    await server.arrived(() => true);
    await transport.close();
    expect((await starting).failure.code).toBe('connection-lost');
    await server.idle();
  });

  it('ends with its stream', async () => {
    const handle = sse();
    const { transport, recorded, server } = await connect(handle);
    await open(transport);
    handle.stream?.end();
    await recorded.closed;
    expect(transport.ended).toMatchObject({ code: 'connection-lost' });
    expect(await failureOf(transport.send(request(1, 'x')))).toMatchObject({ written: false });
    await transport.close();
    expect(recorded.closes).toBe(1);
    await server.idle();
  });

  it('ends if its stream is cut', async () => {
    const handle = sse();
    const { transport, recorded } = await connect(handle);
    await open(transport);
    handle.stream?.destroy();
    await recorded.closed;
    expect(transport.ended).toMatchObject({ code: 'connection-lost' });
  });

  it('rejects a message that is refused', async () => {
    const { transport } = await connect(sse(refuse(413, 'too large')));
    await transport.start();
    const error = await failureOf(transport.send(INITIALIZE));
    expect(error).toMatchObject({ written: false, failure: { code: 'http-status', http: { status: 413 } } });
    expect(transport.ended).toBeUndefined();
  });

  it('treats a refusal with the id of its request as the answer', async () => {
    const error = { code: -32_602, message: 'no such berth' };
    const handle = sse((seen, res) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: seen.rpc.id, error });
      refuse(seen.rpc.method === 'tools/call' ? 400 : 202, body)(seen, res);
    });
    const { clock, transport, recorded } = await connect(handle);
    await open(transport);
    await transport.send(request(1, 'tools/call'));
    expect(recorded.messages).toEqual([{ jsonrpc: '2.0', id: 1, error }]);
    expect(recorded.doubts).toBe(0);
    expect(transport.ended).toBeUndefined();
    expect(clock.pending).toEqual([]);
  });

  it('reports the status that refuses the first message, whatever its body is', async () => {
    const error = { code: -32_000, message: 'Too many requests' };
    const { transport, recorded } = await connect(
      sse((seen, res) =>
        refuse(429, JSON.stringify({ jsonrpc: '2.0', id: seen.rpc.id, error }), { 'retry-after': '7' })(
          seen,
          res,
        ),
      ),
    );
    await transport.start();
    const { failure } = await failureOf(transport.send(INITIALIZE));
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 429, retryAfterMs: 7_000 } });
    expect(recorded.messages).toEqual([]);
  });

  it.each<[string, Handler, string]>([
    ['breaks', (_seen, res) => void res.destroy(), 'connection-lost'],
    ['gets 502 from a gateway', refuse(502, 'nobody there'), 'http-status'],
  ])('raises a suspicion if a request %s', async (_title, treat, code) => {
    const { transport, recorded } = await connect(
      sse((seen, res) => (seen.rpc.method === 'tools/call' ? treat : refuse(202))(seen, res)),
    );
    await open(transport);
    const error = await failureOf(transport.send(request(1, 'tools/call')));
    expect(error).toMatchObject({ written: true, failure: { code } });
    expect(recorded.doubts).toBe(1);
    expect(transport.ended).toBeUndefined();
  });

  it('raises no suspicion if a ping failed', async () => {
    const { transport, recorded } = await connect(
      sse((seen, res) => refuse(seen.rpc.method === 'ping' ? 502 : 202)(seen, res)),
    );
    await open(transport);
    await failureOf(transport.send(request(1, 'ping')));
    expect(recorded.doubts).toBe(0);
  });

  it.each([
    [404, 'session-expired', 'has lost the session of its stream'],
    [401, 'auth-required', 'no longer accepts the credentials'],
  ])('ends if a later message is answered with %i (%s): the server %s', async (status, code) => {
    let posts = 0;
    const { transport, recorded } = await connect(
      sse((seen, res) => {
        posts += 1;
        refuse(posts > 2 ? status : 202)(seen, res);
      }),
    );
    await open(transport);
    const error = await failureOf(transport.send(request(1, 'x')));
    expect(error).toMatchObject({ written: false, failure: { code } });
    await recorded.closed;
    expect(transport.ended).toMatchObject({ code });
    expect(transport.ended?.hint ?? '').not.toContain('path');
  });

  it('treats 404 to the first message as a wrong address', async () => {
    const { transport } = await connect(sse(refuse(404)));
    await transport.start();
    expect((await failureOf(transport.send(INITIALIZE))).failure.code).toBe('http-status');
  });

  it.each([
    ['first', (id: unknown, text: string) => ({ jsonrpc: '2.0', id, result: { text } })],
    ['last', (id: unknown, text: string) => ({ jsonrpc: '2.0', result: { text }, id })],
  ])('fails the request whose answer is above the limit, with its id %s', async (_, answer) => {
    const handle = sse((seen, res) => {
      res.writeHead(202).end();
      handle.stream?.write(event(answer(seen.rpc.id, 'x'.repeat(200_000))));
    });
    const { transport, recorded } = await connect(handle, { limits: { remoteMessageBytes: 100_000 } });
    await transport.start();
    await transport.send(request(1, 'tools/call'));
    expect(await recorded.answerTo(1)).toMatchObject({ error: { code: MESSAGE_TOO_LARGE } });
    expect(recorded.notices.map(({ kind }) => kind)).toEqual(['message-too-large']);
  });

  it('skips a message above the limit, and continues', async () => {
    const handle = sse();
    const { transport, recorded } = await connect(handle, { limits: { remoteMessageBytes: 100_000 } });
    await open(transport);
    handle.stream?.write(
      event({ jsonrpc: '2.0', method: 'notifications/x', params: { text: 'x'.repeat(200_000) } }),
    );
    await transport.send(request(1, 'tools/list'));
    await recorded.answerTo(1);
    expect(recorded.notices.map(({ kind }) => kind)).toContain('message-too-large');
    expect(recorded.messages).toHaveLength(2);
  });

  it('closes a POST without a reply once its request has been answered, and the call has its result', async () => {
    const handle = sse((seen, res) => {
      if (seen.rpc.method !== 'tools/call') res.writeHead(202).end();
      else handle.stream?.write(event(result(seen.rpc.id, {})));
    });
    const { server, clock, transport, recorded } = await connect(handle);
    await open(transport);
    const ids = Array.from({ length: 50 }, (_, i) => i + 1);
    const sent = ids.map((id) => transport.send(request(id, 'tools/call')));
    await Promise.all(ids.map((id) => recorded.answerTo(id)));
    await clock.advance(1_000);
    await Promise.all(sent);
    const calls = await server.arrived(({ rpc }) => rpc.method === 'tools/call', ids.length);
    await Promise.all(calls.map(({ over }) => over));
    expect(clock.pending).toEqual([]);
    expect(transport.ended).toBeUndefined();
  });

  it('closes a POST whose request was cancelled, even if the cancellation gets no reply either', async () => {
    const { server, clock, transport } = await connect(
      sse((seen, res) => {
        if (seen.rpc.method === 'initialize') res.writeHead(202).end();
      }),
    );
    await transport.start();
    await transport.send(INITIALIZE);
    const call = failureOf(transport.send(request(1, 'tools/call')));
    const cancelling = failureOf(transport.send(notification('notifications/cancelled', { requestId: 1 })));
    await server.arrived(({ rpc }) => rpc.method === 'tools/call');
    await server.arrived(({ rpc }) => rpc.method === 'notifications/cancelled');
    await clock.advance(2_000);
    expect(await call).toMatchObject({ written: true });
    await clock.advance(8_000);
    expect(await cancelling).toMatchObject({ written: true, failure: { code: 'connection-lost' } });
    expect(transport.ended).toBeUndefined();
  });

  it('closes its stream and every socket', async () => {
    const { server, transport, recorded } = await connect(sse());
    await open(transport);
    await transport.close();
    expect(recorded.closes).toBe(1);
    expect(transport.ended).toBeUndefined();
    await server.idle();
  });
});
