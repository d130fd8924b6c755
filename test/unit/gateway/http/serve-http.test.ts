import type { OutgoingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { HttpSession } from '../../../../src/gateway/http/http-client-session.js';
import type { ServeHttpOptions } from '../../../../src/gateway/http/serve-http-options.js';
import type { VerifiedToken } from '../../../../src/gateway/http/http-oauth.js';
import { serveHttp } from '../../../../src/gateway/http/serve-http.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { call, initialize, ofSession, type Asked } from '../../../support/gateway-http-client.js';
import { endServicesAfterEach, serving, type Serving } from '../http-service.js';
import { StandInGateway } from '../serve-stand-in.js';

useLeakCheck();
useCrashWatch();
endServicesAfterEach();

/** Larger than what the system buffers for a client that does not read. */
const LONG = 'z'.repeat(12_000_000);

describe('a session over HTTP', () => {
  it('starts with initialize, and its requests are answered on separate streams.', async () => {
    const { ask, post, service, gateway } = await serving();
    const begun = await ask({ body: initialize() });
    expect([begun.status, begun.headers['content-type']]).toEqual([200, 'application/json']);
    expect(await begun.json()).toMatchObject({ id: 'init', result: { capabilities: {} } });
    const session = String(begun.headers['mcp-session-id']);
    const reply = await post(session, call(1, 'notify', { times: 2 }));
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const [primer, ...events] = await reply.events();
    expect(primer).toEqual({ id: '1.0', message: undefined });
    expect(events.map(({ message }) => message)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/test', params: { n: 1 } },
      { jsonrpc: '2.0', method: 'notifications/test', params: { n: 2 } },
      { jsonrpc: '2.0', id: 1, result: { sent: 2 } },
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(3);
    expect([service.sessions, gateway.last.about]).toEqual([1, { endsWhenIdle: true }]);
  });

  it('accepts messages with a byte order mark.', async () => {
    const { ask, post } = await serving();
    const marked = (message: object): Buffer => Buffer.from(`\uFEFF${JSON.stringify(message)}`);
    const begun = await ask({ body: marked(initialize()) });
    expect(begun.status).toBe(200);
    const reply = await post(String(begun.headers['mcp-session-id']), marked(call(1)));
    expect(await reply.messages()).toMatchObject([{ id: 1, result: {} }]);
  });

  it('can be for one server at a separate address, and is valid only there.', async () => {
    const { begin, ask, gateway } = await serving();
    const path = '/servers/a%20b/mcp';
    const id = await begin({ path });
    expect(gateway.last.about).toMatchObject({ server: 'a b' });
    expect((await ask({ path, body: call(1), headers: ofSession(id) })).status).toBe(200);
    expect((await ask({ body: call(1), headers: ofSession(id) })).status).toBe(404);
  });

  it('does not exist if the gateway answers initialize with an error.', async () => {
    const { ask, service, gateway } = await serving();
    const reply = await ask({ body: initialize({ text: 'full' }) });
    expect(await reply.json()).toMatchObject({ id: 'init', error: { message: 'full' } });
    expect([reply.headers['mcp-session-id'], service.sessions]).toEqual([undefined, 0]);
    await gateway.last.closed;
  });

  it('does not exist if the gateway refuses the connection.', async () => {
    const { ask, service, gateway } = await serving();
    gateway.refusal = new Error('closed');
    const reply = await ask({ body: initialize() });
    expect([reply.status, await reply.json()]).toMatchObject([503, { error: { message: 'closed' } }]);
    expect(service.sessions).toBe(0);
  });

  it('is refused while the maximum number is in use.', async () => {
    const { begin, ask, listen, service } = await serving({ maxHttpSessions: 2 });
    const [first, second] = [await begin(), await begin()];
    for (const id of [first, second]) await listen(id);
    const refused = await ask({ body: initialize() });
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { message: expect.stringContaining('2') } },
    ]);
    await ask({ method: 'DELETE', headers: ofSession(first) });
    await begin();
    expect(service.sessions).toBe(2);
  });

  it('takes the place of the one that has been unused for longest if there are too many.', async () => {
    const { begin, ask, listen, post, service } = await serving({ maxHttpSessions: 3 });
    const [used, first, second] = [await begin(), await begin(), await begin()];
    await listen(used);
    await post(first, { jsonrpc: '2.0', method: 'notifications/x' });
    const third = await begin();
    await expect.poll(() => service.sessions).toBe(3);
    const statusOf = async (id: string): Promise<number> =>
      (await ask({ body: { jsonrpc: '2.0', method: 'notifications/x' }, headers: ofSession(id) })).status;
    expect(await Promise.all([used, first, second, third].map(statusOf))).toEqual([202, 404, 202, 202]);
  });

  it('takes no place of another subject while its own has the larger share.', async () => {
    const verifyToken = async (token: string): Promise<VerifiedToken> => ({ subject: token, scopes: [] });
    const oauth = { issuers: ['https://login.example.com'], verifyToken };
    const { ask, service } = await serving({ maxHttpSessions: 4, oauth });
    const as = (token: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${token}` });
    const open = async (token: string): Promise<string> => {
      const reply = await ask({ body: initialize(), headers: as(token) });
      await reply.text();
      return String(reply.headers['mcp-session-id']);
    };
    const own = await open('bob');
    for (let count = 0; count < 6; count += 1) await open('mallory');
    await expect.poll(() => service.sessions).toBe(3);
    const reply = await ask({
      body: { jsonrpc: '2.0', method: 'notifications/x' },
      headers: ofSession(own, as('bob')),
    });
    expect(reply.status).toBe(202);
  });

  it('is refused in the same way if the logger throws.', async () => {
    const boom = (): never => {
      throw new Error('boom');
    };
    const logger = { debug: boom, info: boom, warn: boom, error: async () => boom() };
    const { begin, ask, listen } = await serving({ maxHttpSessions: 1, logger });
    await listen(await begin());
    expect((await ask({ body: initialize() })).status).toBe(503);
  });

  it('accepts notifications and answers with 202.', async () => {
    const { begin, post, gateway } = await serving();
    const id = await begin();
    const asking = await post(id, call(1, 'ask'));
    await asking.event();
    expect((await asking.event())?.message).toMatchObject({ id: 'question-1', method: 'roots/list' });
    const accepted = await post(id, { jsonrpc: '2.0', id: 'question-1', result: { roots: [] } });
    expect([accepted.status, await accepted.text()]).toEqual([202, '']);
    expect(await asking.messages()).toMatchObject([{ id: 1, result: { answer: { id: 'question-1' } } }]);
    expect((await post(id, { jsonrpc: '2.0', method: 'notifications/x' })).status).toBe(202);
    expect(gateway.last.received.at(-1)).toMatchObject({ method: 'notifications/x' });
  });

  it('gets the answers of a batch on one stream, with an error for each invalid message, if its version has batches.', async () => {
    const { begin, post } = await serving();
    const id = await begin({ body: initialize({ protocolVersion: '2025-03-26' }) });
    const version = { 'mcp-protocol-version': '2025-03-26' };
    const batch = [call(1), 7, call(2), { jsonrpc: '2.0', method: 'notifications/x' }];
    const reply = await post(id, batch, version);
    expect((await reply.messages()).map((each) => each['id'])).toEqual([null, 1, 2]);
    expect((await post(id, [], version)).status).toBe(400);
    const refused = await post(id, [{ jsonrpc: '2.0', id: 1 }], version);
    expect([refused.status, await refused.json()]).toMatchObject([400, [{ error: { code: -32600 } }]]);
  });

  it.each(['2025-11-25', '2025-06-18'])('refuses a batch if %s was negotiated.', async (protocolVersion) => {
    const { begin, post, gateway } = await serving();
    const id = await begin({ body: initialize({ protocolVersion }) });
    const reply = await post(id, [call(1)], { 'mcp-protocol-version': '2025-03-26' });
    expect([reply.status, await reply.json()]).toMatchObject([400, { id: null, error: { code: -32600 } }]);
    expect(gateway.last.received.length).toBe(1);
  });

  it('is refused for an unknown server, and an authorized client gets the list of servers.', async () => {
    const { ask, service, gateway } = await serving({ token: 'secret' });
    const path = '/servers/no%20pe/mcp';
    const stranger = await ask({ path, body: initialize() });
    expect([stranger.status, await stranger.text()]).toMatchObject([401, expect.not.stringContaining('git')]);
    const headers = { authorization: 'Bearer secret' };
    for (const asked of [
      { body: initialize() },
      { body: call(1) },
      { method: 'GET' },
      { method: 'DELETE' },
    ]) {
      const reply = await ask({ path, headers, ...asked });
      const message: unknown = expect.stringMatching(/'no pe'.*a b, git/);
      expect([reply.status, await reply.json()]).toMatchObject([404, { jsonrpc: '2.0', error: { message } }]);
    }
    gateway.names = [];
    const none = await ask({ path, headers, body: initialize() });
    expect(await none.json()).toMatchObject({
      error: { message: expect.stringContaining('no pe') },
    });
    gateway.names = undefined;
    expect((await ask({ path, headers, body: initialize() })).status).toBe(200);
    gateway.refusal = new Error('closed');
    expect((await ask({ path, headers, body: initialize() })).status).toBe(503);
    expect(service.sessions).toBe(1);
  });

  it('ends the stream of a cancelled request without an answer.', async () => {
    const { begin, post, gateway } = await serving();
    const id = await begin();
    const reply = await post(id, call(1, 'hold'));
    await reply.event();
    await post(id, {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1 },
    });
    gateway.last.release(1);
    expect(await reply.messages()).toEqual([]);
  });

  it('ends with DELETE, at once and for all streams.', async () => {
    const { begin, ask, post, listen, service, gateway } = await serving();
    const id = await begin();
    const [held, listening] = await Promise.all([post(id, call(1, 'hold')), listen(id)]);
    expect((await ask({ method: 'DELETE', headers: ofSession(id) })).status).toBe(204);
    await gateway.last.closed;
    expect([await held.messages(), await listening.messages()]).toEqual([[], []]);
    const after = await post(id, call(2));
    expect([after.status, service.sessions]).toEqual([404, 0]);
    expect((await ask({ method: 'DELETE', headers: ofSession(id) })).status).toBe(404);
  });

  it('ends if the client disconnects before it gets the session id.', async () => {
    const { ask, service, gateway } = await serving();
    const gone = new AbortController();
    const connect = gateway.connect.bind(gateway);
    gateway.connect = async (...given) => {
      const session = await connect(...given);
      gateway.last.transport.onmessage = () => gone.abort();
      return session;
    };
    await expect(ask({ body: initialize(), signal: gone.signal })).rejects.toThrow();
    await gateway.last.closed;
    expect(service.sessions).toBe(0);
  });

  it('gets an error without details if the gateway itself fails.', async () => {
    const { begin, post, logged } = await serving();
    const reply = await post(await begin(), call(1, 'throw'));
    expect(await reply.messages()).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } },
    ]);
    expect(logged.join()).toContain('an internal secret');
  });
});

describe('an HTTP request that is cut off', () => {
  it('is discarded, and not logged as an error.', async () => {
    const { service, logged, begin } = await serving();
    const socket = connect(service.port, '127.0.0.1');
    const head = ['POST /mcp HTTP/1.1', `host: 127.0.0.1:${service.port}`, 'accept: */*'];
    const promised = ['content-type: application/json', 'content-length: 100', 'expect: 100-continue'];
    socket.write(`${[...head, ...promised].join('\r\n')}\r\n\r\n{"jsonrpc"`);
    await once(socket, 'data');
    socket.destroy();
    await begin();
    await expect.poll(() => logged.join()).toContain('A session has begun.');
    expect(logged.join()).not.toContain('could not be answered');
  });
});

describe('a connection that is cut while some of its pipelined requests wait', () => {
  const broken = async ({ service, begin, gateway }: Serving): Promise<void> => {
    const session = await begin();
    const socket = connect(service.port, '127.0.0.1');
    const head = [
      `host: 127.0.0.1:${service.port}`,
      'accept: text/event-stream',
      `mcp-session-id: ${session}`,
    ];
    const get = (path: string): string => [`GET ${path} HTTP/1.1`, ...head, '', ''].join('\r\n');
    const body = JSON.stringify(call(1, 'hold'));
    const post = ['POST /mcp HTTP/1.1', ...head, 'content-type: application/json'];
    socket.write(`${get('/mcp')}${get('/nowhere').repeat(12)}`);
    socket.write(`${[...post, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`);
    await expect.poll(() => gateway.last.held).toEqual([1]);
    socket.destroy();
  };

  it('does not keep the service from closing.', async () => {
    const served = await serving();
    await broken(served);
    served.gateway.last.release(1);
    await served.service.close();
    expect(served.service.sessions).toBe(0);
  });

  it('leaves no session that counts its client as connected.', async () => {
    const served = await serving();
    await broken(served);
    const { transport } = served.gateway.last;
    await expect.poll(() => (transport as HttpSession).disconnectedSince).toBeDefined();
  });
});

describe('an HTTP request that is refused before its body is complete', () => {
  it.each<[string, ServeHttpOptions, number]>([
    ['for its token', { token: 'secret' }, 401],
    ['for its declared length', { maxBodyBytes: 99_999 }, 413],
    ['for its actual length', { maxBodyBytes: 40_000 }, 413],
  ])('can be sent to its end, so that its client can read the refusal: %s.', async (_, options, status) => {
    const { service } = await serving(options);
    const socket = connect(service.port, '127.0.0.1');
    let read = '';
    socket.setEncoding('utf8').on('data', (text: string) => (read += text));
    const type = ['content-type: application/json', 'accept: */*'];
    const head = ['POST /mcp HTTP/1.1', `host: 127.0.0.1:${service.port}`, ...type];
    socket.write(`${[...head, 'content-length: 100000'].join('\r\n')}\r\n\r\n${'x'.repeat(50_000)}`);
    await expect.poll(() => read).toContain(`HTTP/1.1 ${status} `);
    read = '';
    const next = [...head, 'content-length: 2', 'connection: close'].join('\r\n');
    socket.write(`${'x'.repeat(50_000)}${next}\r\n\r\n{}`);
    await once(socket, 'close');
    expect(read).toMatch(/^HTTP\/1\.1 40[01] /);
  });

  it('is cut off if it does not end.', async () => {
    const { service } = await serving({ token: 'secret' });
    const socket = connect(service.port, '127.0.0.1').on('error', () => {});
    socket.resume().write(`POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${service.port}\r\n`);
    socket.write('content-length: 1000000000\r\n\r\n');
    const some = Buffer.alloc(1_024 * 1_024);
    const isClosed = new Promise((resolve) => socket.once('close', resolve));
    const send = (): void => {
      while (socket.writable && socket.write(some));
    };
    socket.on('drain', send);
    send();
    await isClosed;
    expect(socket.bytesWritten).toBeLessThan(500_000_000);
  });
});

describe('an invalid HTTP request', () => {
  const text = (body: string | Buffer): Asked => ({ body });
  it.each<[string, Asked, number, number]>([
    ['invalid JSON', text('{"jsonrpc":'), 400, -32700],
    ['binary data', text(Buffer.from([0xff, 0xfe, 0x00])), 400, -32700],
    ['a string that is not UTF-8', text(Buffer.from([0x22, 0xc3, 0x22])), 400, -32700],
    ['a list that is not a batch', text('[1]'), 400, -32600],
    ['a number', text('5'), 400, -32600],
    ['a request without a session', { body: call(1) }, 400, -32600],
    ['an unknown session', { body: call(1), headers: { 'mcp-session-id': 'x' } }, 404, -32000],
    ['another content type', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415, -32000],
    ['no content type', { body: '{}', headers: { 'content-type': '' } }, 415, -32000],
    ['compressed JSON', { body: '{}', headers: { 'content-encoding': 'gzip' } }, 415, -32000],
    [
      'a client that accepts neither JSON nor event streams',
      { body: call(1), headers: { accept: 'text/html' } },
      406,
      -32000,
    ],
    ['another address', { path: '/', body: call(1) }, 404, -32000],
    [
      'a server name that cannot be decoded',
      { path: '/servers/%E0%A4%A/mcp', body: initialize() },
      404,
      -32000,
    ],
    ['another method', { method: 'PUT', body: '{}' }, 405, -32000],
    ['GET without a session', { method: 'GET' }, 400, -32600],
    ['DELETE without a session', { method: 'DELETE' }, 400, -32600],
  ])('is refused in JSON: %s.', async (_, asked, status, code) => {
    const { ask, service } = await serving();
    const reply = await ask(asked);
    expect([reply.status, await reply.json()]).toMatchObject([
      status,
      { jsonrpc: '2.0', id: null, error: { code } },
    ]);
    if (status === 405) expect(reply.headers.allow).toBe('GET, POST, DELETE');
    expect(service.sessions).toBe(0);
  });

  it('is refused if the body is too long, with or without a content length.', async () => {
    const { begin, ask } = await serving({ maxBodyBytes: 400 });
    const id = await begin();
    const body = JSON.stringify(call(1, 'echo', { text: 'y'.repeat(500) }));
    for (const headers of [{}, { 'content-length': '', 'transfer-encoding': 'chunked' }]) {
      const reply = await ask({ body, headers: ofSession(id, headers) });
      expect([reply.status, await reply.json()]).toMatchObject([
        413,
        { id: null, error: { code: -32600, data: { reason: expect.stringMatching(/at most 400 bytes/) } } },
      ]);
    }
    expect((await ask({ body: call(2), headers: ofSession(id) })).status).toBe(200);
  });

  it('is refused if it nests too deeply or has too much structure.', async () => {
    const { begin, ask } = await serving();
    const id = await begin();
    for (const value of ['['.repeat(2_000) + ']'.repeat(2_000), `[${'{},'.repeat(100_000)}0]`]) {
      const body = JSON.stringify(call(1, 'echo', { text: '?' })).replace('"?"', value);
      const reply = await ask({ body, headers: ofSession(id) });
      expect([reply.status, await reply.json()]).toMatchObject([413, { id: null, error: { code: -32600 } }]);
    }
    expect((await ask({ body: call(2), headers: ofSession(id) })).status).toBe(200);
  });

  it('is refused if its protocol version is unsupported.', async () => {
    const { begin, post } = await serving();
    const reply = await post(await begin(), call(1), { 'mcp-protocol-version': '1999-01-01' });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('2025-11-25') } },
    ]);
  });

  it('is refused with its id if only its params are invalid.', async () => {
    const { begin, post } = await serving();
    const id = await begin();
    const reply = await post(id, { jsonrpc: '2.0', id: 3, method: 'echo', params: [] });
    expect([reply.status, await reply.json()]).toMatchObject([200, { id: 3, error: { code: -32602 } }]);
    const second = await post(id, { jsonrpc: '2.0', id: 3 });
    expect([second.status, await second.json()]).toMatchObject([400, { id: null, error: { code: -32600 } }]);
  });
});

describe('an HTTP service', () => {
  it('names the port that is not available.', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    await expect(serveHttp(new StandInGateway(), { port })).rejects.toThrow(`${port} of 127.0.0.1`);
    holder.close();
    await once(holder, 'close');
  });

  it('names an address that does not belong to this computer.', async () => {
    await expect(serveHttp(new StandInGateway(), { host: '203.0.113.7', token: 'x' })).rejects.toThrow(
      /203\.0\.113\.7.*EADDRNOTAVAIL/,
    );
  });

  it('lets requests in flight finish when it closes, and accepts nothing new in the meantime.', async () => {
    const { begin, ask, post, listen, service, gateway } = await serving();
    const id = await begin();
    const [held, listening] = [await post(id, call(1, 'hold')), await listen(id)];
    const closing = service.close();
    const refused = await post(id, call(2));
    expect([refused.status, await refused.json()]).toMatchObject([200, { id: 2, error: { code: -32000 } }]);
    expect((await ask({ body: initialize() })).status).toBe(503);
    gateway.last.release(1);
    expect(await held.messages()).toEqual([{ jsonrpc: '2.0', id: 1, result: { released: true } }]);
    expect(await listening.messages()).toEqual([]);
    await closing;
    await expect(ask({ body: initialize() })).rejects.toThrow('ECONNREFUSED');
    expect(service.sessions).toBe(0);
  });

  it('aborts requests after the grace period, or at a second close.', async () => {
    for (const gracePeriodMs of [30, 60_000]) {
      const { begin, post, service, logged } = await serving({ gracePeriodMs });
      const held = await post(await begin(), call(1, 'hold'));
      const closing = service.close();
      if (gracePeriodMs > 1_000) void service.close();
      await closing;
      expect(await held.messages()).toEqual([]);
      expect(logged.join()).toContain('Calls in flight were aborted.');
    }
  });

  it('waits for a client that reads its last answer slowly.', async () => {
    const { begin, post, service } = await serving({ maxBodyBytes: 2 * LONG.length });
    const answer = await post(await begin(), call(1, 'echo', { text: LONG }));
    const closing = service.close();
    await expect.poll(() => service.sessions).toBe(0);
    await turn();
    expect((await answer.text()).length).toBeGreaterThan(LONG.length);
    await closing;
  });

  it.each([['application/json, text/event-stream'], ['application/json']])(
    'refuses requests of a session whose answers wait unread, and takes them again afterwards (%s).',
    async (accept) => {
      const { begin, post } = await serving({ maxBodyBytes: 2 * LONG.length });
      const id = await begin();
      const unread = [];
      for (let count = 1; count <= 4; count += 1)
        unread.push(await post(id, call(count, 'echo', { text: LONG }), { accept }));
      const statuses = unread.map(({ status }) => status);
      expect([statuses[0], statuses.at(-1)]).toEqual([200, 503]);
      await Promise.all(unread.map((reply) => reply.text()));
      expect((await post(id, call(9, 'echo', { text: 'z' }), { accept })).status).toBe(200);
    },
  );

  it('does not wait for a client that does not read when it has to close at once.', async () => {
    const { begin, post, service } = await serving({ maxBodyBytes: 2 * LONG.length });
    const answer = await post(await begin(), call(1, 'echo', { text: LONG }));
    const closing = service.close();
    await expect.poll(() => service.sessions).toBe(0);
    await Promise.all([service.close({ gracePeriodMs: 0 }), closing]);
    await expect(answer.text()).rejects.toThrow('aborted');
  });
});
