import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { HttpSession } from '../../../../src/gateway/http/http-client-session.js';
import type { ServeHttpOptions } from '../../../../src/gateway/http/serve-http-options.js';
import { serveHttp } from '../../../../src/gateway/http/serve-http.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { call, initialize, ofSession, type Asked } from '../../../support/gateway-http-client.js';
import { endServicesAfterEach, serving, type Serving } from '../http-service.js';
import { StandInGateway } from '../serve-stand-in.js';

useLeakCheck();
useCrashWatch();
endServicesAfterEach();

/** Longer than what the system holds for a client that does not read. */
const LONG = 'z'.repeat(12_000_000);

describe('a session over HTTP', () => {
  it('begins with initialize, and its requests are answered on streams of their own.', async () => {
    const { ask, post, service, gateway } = await serving();
    const begun = await ask({ body: initialize() });
    expect([begun.status, begun.headers['content-type']]).toEqual([200, 'application/json']);
    expect(await begun.json()).toMatchObject({ id: 'init', result: { capabilities: {} } });
    const session = String(begun.headers['mcp-session-id']);
    const reply = await post(session, call(1, 'tell', { times: 2 }));
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const [primer, ...events] = await reply.events();
    expect(primer).toEqual({ id: '1.0', message: undefined });
    expect(events.map(({ message }) => message)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/told', params: { n: 1 } },
      { jsonrpc: '2.0', method: 'notifications/told', params: { n: 2 } },
      { jsonrpc: '2.0', id: 1, result: { told: 2 } },
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(3);
    expect([service.sessions, gateway.last.about]).toEqual([1, { endsWhenIdle: true }]);
  });

  it('is spoken to with a byte order mark, too.', async () => {
    const { ask, post } = await serving();
    const marked = (message: object): Buffer => Buffer.from(`\uFEFF${JSON.stringify(message)}`);
    const begun = await ask({ body: marked(initialize()) });
    expect(begun.status).toBe(200);
    const reply = await post(String(begun.headers['mcp-session-id']), marked(call(1)));
    expect(await reply.messages()).toMatchObject([{ id: 1, result: {} }]);
  });

  it('is for one server at an address of its own, and for that address alone.', async () => {
    const { begin, ask, gateway } = await serving();
    const path = '/servers/a%20b/mcp';
    const id = await begin({ path });
    expect(gateway.last.about).toMatchObject({ server: 'a b' });
    expect((await ask({ path, body: call(1), headers: ofSession(id) })).status).toBe(200);
    expect((await ask({ body: call(1), headers: ofSession(id) })).status).toBe(404);
  });

  it('is not there where the gateway answers initialize with an error.', async () => {
    const { ask, service, gateway } = await serving();
    const reply = await ask({ body: initialize({ text: 'full' }) });
    expect(await reply.json()).toMatchObject({ id: 'init', error: { message: 'There is no room.' } });
    expect([reply.headers['mcp-session-id'], service.sessions]).toEqual([undefined, 0]);
    await gateway.last.closed;
  });

  it('is not there where the gateway takes none.', async () => {
    const { ask, service, gateway } = await serving();
    gateway.refusal = new Error('It is closed.');
    const reply = await ask({ body: initialize() });
    expect([reply.status, await reply.json()]).toMatchObject([503, { error: { message: 'It is closed.' } }]);
    expect(service.sessions).toBe(0);
  });

  it('is refused while there are as many as there may be.', async () => {
    const { begin, ask, service } = await serving({ maxHttpSessions: 2 });
    const [first] = [await begin(), await begin()];
    const refused = await ask({ body: initialize() });
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { message: 'There are 2 sessions already: end one, or try again later.' } },
    ]);
    await ask({ method: 'DELETE', headers: ofSession(first) });
    await begin();
    expect(service.sessions).toBe(2);
  });

  it('is refused in the same way where the logger throws.', async () => {
    const boom = (): never => {
      throw new Error('boom');
    };
    const logger = { debug: boom, warn: boom, error: async () => boom() };
    const { begin, ask } = await serving({ maxHttpSessions: 1, logger });
    await begin();
    expect((await ask({ body: initialize() })).status).toBe(503);
  });

  it('takes notifications and answers with 202.', async () => {
    const { begin, post, gateway } = await serving();
    const id = await begin();
    const asking = await post(id, call(1, 'ask'));
    await asking.event();
    expect((await asking.event())?.message).toMatchObject({ id: 'question-1', method: 'roots/list' });
    const said = await post(id, { jsonrpc: '2.0', id: 'question-1', result: { roots: [] } });
    expect([said.status, await said.text()]).toEqual([202, '']);
    expect(await asking.messages()).toMatchObject([{ id: 1, result: { answer: { id: 'question-1' } } }]);
    expect((await post(id, { jsonrpc: '2.0', method: 'notifications/x' })).status).toBe(202);
    expect(gateway.last.heard.at(-1)).toMatchObject({ method: 'notifications/x' });
  });

  it('gets the answers of a batch on one stream, with an error for what is no message, where it may send one.', async () => {
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

  it.each(['2025-11-25', '2025-06-18'])('takes no batch where %s was agreed on.', async (protocolVersion) => {
    const { begin, post, gateway } = await serving();
    const id = await begin({ body: initialize({ protocolVersion }) });
    const reply = await post(id, [call(1)], { 'mcp-protocol-version': '2025-03-26' });
    expect([reply.status, await reply.json()]).toMatchObject([400, { id: null, error: { code: -32600 } }]);
    expect(gateway.last.heard.length).toBe(1);
  });

  it('is not there for a server that is not there: whoever may ask is told which are.', async () => {
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
      const message = "There is no server called 'no pe'. Servers: a b, git.";
      expect([reply.status, await reply.json()]).toMatchObject([404, { jsonrpc: '2.0', error: { message } }]);
    }
    gateway.names = [];
    const none = await ask({ path, headers, body: initialize() });
    expect(await none.json()).toMatchObject({
      error: { message: expect.stringContaining('There is none.') },
    });
    gateway.names = undefined;
    expect((await ask({ path, headers, body: initialize() })).status).toBe(200);
    gateway.refusal = new Error('It is closed.');
    expect((await ask({ path, headers, body: initialize() })).status).toBe(503);
    expect(service.sessions).toBe(1);
  });

  it('ends its stream when a request is cancelled, and answers it no more.', async () => {
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

  it('ends with DELETE, at once and for everybody.', async () => {
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

  it('ends where the client went away before it knew of it.', async () => {
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

  it('hears that something is wrong, and not what, where the gateway itself fails.', async () => {
    const { begin, post, logged } = await serving();
    const reply = await post(await begin(), call(1, 'throw'));
    expect(await reply.messages()).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } },
    ]);
    expect(logged.join()).toContain('the secret of the house');
  });
});

describe('a request of HTTP that breaks off', () => {
  it('is over for everybody, and nothing to tell.', async () => {
    const { service, logged, begin } = await serving();
    const socket = connect(service.port, '127.0.0.1');
    const head = ['POST /mcp HTTP/1.1', `host: 127.0.0.1:${service.port}`, 'accept: */*'];
    const promised = ['content-type: application/json', 'content-length: 100', 'expect: 100-continue'];
    socket.write(`${[...head, ...promised].join('\r\n')}\r\n\r\n{"jsonrpc"`);
    await once(socket, 'data');
    socket.destroy();
    await begin();
    await expect.poll(() => logged.join(), { timeout: 10_000 }).toContain('A session has begun.');
    expect(logged.join()).not.toContain('could not be answered');
  });
});

describe('a connection that breaks while some of its requests wait for their turn', () => {
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

  it('keeps the service from ending no more than any other.', async () => {
    const served = await serving();
    await broken(served);
    served.gateway.last.release(1);
    await served.service.close();
    expect(served.service.sessions).toBe(0);
  });

  it('leaves no session whose client counts as there.', async () => {
    const served = await serving();
    await broken(served);
    const { transport } = served.gateway.last;
    await expect.poll(() => (transport as HttpSession).awaySince).toBeDefined();
  });
});

describe('a request of HTTP that is refused before all of it is there', () => {
  it.each<[string, ServeHttpOptions, number]>([
    ['for its token', { token: 'secret' }, 401],
    ['for its length, told beforehand', { maxBodyBytes: 99_999 }, 413],
    ['for its length', { maxBodyBytes: 40_000 }, 413],
  ])('can be sent to its end, so that its client comes to read why: %s.', async (_, options, status) => {
    const { service } = await serving(options);
    const socket = connect(service.port, '127.0.0.1');
    let read = '';
    socket.setEncoding('utf8').on('data', (text: string) => (read += text));
    const type = ['content-type: application/json', 'accept: */*'];
    const head = ['POST /mcp HTTP/1.1', `host: 127.0.0.1:${service.port}`, ...type];
    socket.write(`${[...head, 'content-length: 100000'].join('\r\n')}\r\n\r\n${'x'.repeat(50_000)}`);
    await expect.poll(() => read, { timeout: 10_000 }).toContain(`HTTP/1.1 ${status} `);
    read = '';
    const next = [...head, 'content-length: 2', 'connection: close'].join('\r\n');
    socket.write(`${'x'.repeat(50_000)}${next}\r\n\r\n{}`);
    await once(socket, 'close');
    expect(read).toMatch(/^HTTP\/1\.1 40[01] /);
  });

  it('is cut off where there is no end of it.', async () => {
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

describe('a request of HTTP that makes no sense', () => {
  const text = (body: string | Buffer): Asked => ({ body });
  it.each<[string, Asked, number, number]>([
    ['no JSON', text('{"jsonrpc":'), 400, -32700],
    ['bytes that are no text', text(Buffer.from([0xff, 0xfe, 0x00])), 400, -32700],
    ['a text that is no UTF-8', text(Buffer.from([0x22, 0xc3, 0x22])), 400, -32700],
    ['no message', text('[1]'), 400, -32600],
    ['a number', text('5'), 400, -32600],
    ['a request without a session', { body: call(1) }, 400, -32600],
    ['an unknown session', { body: call(1), headers: { 'mcp-session-id': 'x' } }, 404, -32000],
    [
      'a text that is no JSON by its type',
      { body: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      -32000,
    ],
    ['no type', { body: '{}', headers: { 'content-type': '' } }, 415, -32000],
    ['compressed JSON', { body: '{}', headers: { 'content-encoding': 'gzip' } }, 415, -32000],
    [
      'a client that takes neither JSON nor a stream',
      { body: call(1), headers: { accept: 'text/html' } },
      406,
      -32000,
    ],
    ['another address', { path: '/', body: call(1) }, 404, -32000],
    ['a name that cannot be read', { path: '/servers/%E0%A4%A/mcp', body: initialize() }, 404, -32000],
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

  it('is refused where the body is too long, told beforehand or not.', async () => {
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

  it('is refused where it speaks a version that nobody speaks here.', async () => {
    const { begin, post } = await serving();
    const reply = await post(await begin(), call(1), { 'mcp-protocol-version': '1999-01-01' });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('2025-11-25') } },
    ]);
  });

  it('is refused with its id where only the request itself is wrong.', async () => {
    const { begin, post } = await serving();
    const id = await begin();
    const reply = await post(id, { jsonrpc: '2.0', id: 3, method: 'echo', params: [] });
    expect([reply.status, await reply.json()]).toMatchObject([200, { id: 3, error: { code: -32602 } }]);
    const second = await post(id, { jsonrpc: '2.0', id: 3 });
    expect([second.status, await second.json()]).toMatchObject([400, { id: null, error: { code: -32600 } }]);
  });
});

describe('the life of the service', () => {
  it('says which port it could not have.', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    await expect(serveHttp(new StandInGateway(), { port })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is not available (EADDRINUSE): free it, or choose another.`,
    );
    holder.close();
    await once(holder, 'close');
  });

  it("says that it cannot listen on an address that is not this computer's.", async () => {
    await expect(serveHttp(new StandInGateway(), { host: '203.0.113.7', token: 'x' })).rejects.toThrow(
      '203.0.113.7 is not an address of this computer (EADDRNOTAVAIL): give one such as 127.0.0.1 or 0.0.0.0.',
    );
  });

  it('lets what is in flight finish, and takes nothing new meanwhile.', async () => {
    const { begin, ask, post, listen, service, gateway } = await serving();
    const id = await begin();
    const [held, listening] = [await post(id, call(1, 'hold')), await listen(id)];
    const closing = service.close();
    const refused = await post(id, call(2));
    expect([refused.status, await refused.json()]).toMatchObject([
      200,
      { id: 2, error: { code: -32000, message: 'The gateway is shutting down.' } },
    ]);
    expect((await ask({ body: initialize() })).status).toBe(503);
    gateway.last.release(1);
    expect(await held.messages()).toEqual([{ jsonrpc: '2.0', id: 1, result: { released: true } }]);
    expect(await listening.messages()).toEqual([]);
    await closing;
    await expect(ask({ body: initialize() })).rejects.toThrow('ECONNREFUSED');
    expect(service.sessions).toBe(0);
  });

  it('gives up what takes longer than the drain time, and is hurried by a second wish.', async () => {
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
    const { begin, post, service } = await serving();
    const answer = await post(await begin(), call(1, 'echo', { text: LONG }));
    const closing = service.close();
    await expect.poll(() => service.sessions, { timeout: 10_000 }).toBe(0);
    await turn();
    expect((await answer.text()).length).toBeGreaterThan(LONG.length);
    await closing;
  });

  it('does not wait for a client that reads nothing once it is to end at once.', async () => {
    const { begin, post, service } = await serving();
    const answer = await post(await begin(), call(1, 'echo', { text: LONG }));
    const closing = service.close();
    await expect.poll(() => service.sessions, { timeout: 10_000 }).toBe(0);
    await Promise.all([service.close({ gracePeriodMs: 0 }), closing]);
    await expect(answer.text()).rejects.toThrow('aborted');
  });
});
