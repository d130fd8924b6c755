import { describe, expect, it } from 'vitest';
import { createSseTransport } from '../../../../src/transports/http/sse.js';
import { ForwardedHeaders } from '../../../../src/transports/http/forwarded-headers.js';
import type { HttpAuth } from '../../../../src/transports/http/session-requests.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { event, mcp, openStream, refuse, type Handler } from '../../../support/http-server.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { failureOf, open, request } from '../../../support/session-record.js';

useLeakCheck();
const connect = useHttpFixture();

const HEADERS = { 'x-request-id': 'request-1', 'x-other': 'other', authorization: 'Bearer secret' };

describe('the headers that a client’s request brings', () => {
  it('are sent with that message alone, and only those that are to be passed on.', async () => {
    const { server, transport } = await connect(mcp({ sessionId: 's' }), {
      headers: { 'X-Request-Id': 'fixed' },
      forwardHeaders: ['X-Request-ID', 'Authorization'],
    });
    await open(transport);
    await transport.send(request(1, 'tools/call'), { headers: { received: HEADERS } });
    await transport.send(request(2, 'tools/call'));
    await transport.send(request(3, 'tools/call'), { headers: { received: { 'x-request-id': undefined } } });
    const calls = server.seen.filter(({ rpc }) => rpc.method === 'tools/call');
    expect(calls.map(({ headers }) => headers['x-request-id'])).toEqual(['request-1', 'fixed', 'fixed']);
    expect(calls.map(({ headers }) => [headers['x-other'], headers.authorization])).toEqual(
      calls.map(() => [undefined, undefined]),
    );
  });

  it('are sent as they are, in Latin-1, like those of the entry.', async () => {
    const { server, transport } = await connect(mcp({ sessionId: 's' }), {
      headers: { 'X-Tenant': 'Zoë' },
      forwardHeaders: ['X-City'],
    });
    await open(transport);
    await transport.send(request(1, 'tools/call'), { headers: { received: { 'x-city': 'Genève' } } });
    const call = server.seen.find(({ rpc }) => rpc.method === 'tools/call');
    expect(call?.headers).toMatchObject({ 'x-tenant': 'Zoë', 'x-city': 'Genève' });
  });

  it('are sent again with a repeated request.', async () => {
    let token = 'old';
    const auth: HttpAuth = { token: async () => token, refresh: async () => (token = 'new') === 'new' };
    const inside = mcp({ sessionId: 's' });
    const guarded: Handler = (seen, res) =>
      (seen.rpc.method === 'tools/call' && token === 'old' ? refuse(401) : inside)(seen, res);
    const { server, transport } = await connect(guarded, { auth, forwardHeaders: ['x-request-id'] });
    await open(transport);
    await transport.send(request(1, 'tools/call'), { headers: { received: HEADERS } });
    const calls = server.seen.filter(({ rpc }) => rpc.method === 'tools/call');
    expect(calls.map(({ headers }) => headers['x-request-id'])).toEqual(['request-1', 'request-1']);
  });

  it('are masked in the refusal of a server that repeats them.', async () => {
    const inside = mcp({ sessionId: 's' });
    const strict: Handler = (seen, res) =>
      (seen.rpc.method === 'tools/call' ? refuse(400, 'request-1 is not known') : inside)(seen, res);
    const { transport } = await connect(strict, { forwardHeaders: ['x-request-id'] });
    await open(transport);
    const { failure } = await failureOf(
      transport.send(request(1, 'tools/call'), { headers: { received: HEADERS } }),
    );
    expect(JSON.stringify(failure)).toContain('is not known');
    expect(JSON.stringify(failure)).not.toContain('request-1');
  });

  it('are sent over the older transport too.', async () => {
    const { server, transport } = await connect(
      (seen, res) =>
        seen.method === 'GET'
          ? void openStream(res).write('event: endpoint\ndata: /post\n\n' + event({}))
          : void res.writeHead(202).end(),
      { create: (options) => createSseTransport(options), forwardHeaders: ['x-request-id'] },
    );
    await transport.start();
    await transport.send(request(1, 'tools/call'), { headers: { received: HEADERS } });
    expect(server.seen.at(-1)?.headers['x-request-id']).toBe('request-1');
  });

  it('stay behind if a redirect leads to another origin.', async () => {
    const { server: elsewhere } = await connect(mcp({ sessionId: 's' }));
    const { transport } = await connect(refuse(307, '', { location: elsewhere.url }), {
      forwardHeaders: ['x-request-id'],
    });
    await open(transport);
    await transport.send(request(1, 'tools/call'), { headers: { received: HEADERS } });
    const [call] = elsewhere.seen.filter(({ rpc }) => rpc.method === 'tools/call');
    expect(call?.headers['x-request-id']).toBeUndefined();
  });
});

describe('the headers that hooks add', () => {
  const added = { 'x-user': 'user-8b1f', authorization: 'Bearer hook-token' };

  it('are sent with that message alone, in place of those of the entry and of the token.', async () => {
    const auth: HttpAuth = { token: async () => 'token', refresh: async () => false };
    const { server, transport } = await connect(mcp({ sessionId: 's' }), {
      headers: { 'X-User': 'nobody' },
      auth,
    });
    await open(transport);
    await transport.send(request(1, 'tools/call'), { headers: { added } });
    await transport.send(request(2, 'tools/call'));
    const calls = server.seen.filter(({ rpc }) => rpc.method === 'tools/call');
    expect(calls.map(({ headers }) => [headers['x-user'], headers.authorization])).toEqual([
      ['user-8b1f', 'Bearer hook-token'],
      ['nobody', 'Bearer token'],
    ]);
  });

  it('are masked in the refusal of a server that repeats them.', async () => {
    const inside = mcp({ sessionId: 's' });
    const strict: Handler = (seen, res) =>
      (seen.rpc.method === 'tools/call' ? refuse(400, 'user-8b1f with hook-token is not known') : inside)(
        seen,
        res,
      );
    const { transport } = await connect(strict, {});
    await open(transport);
    const { failure } = await failureOf(transport.send(request(1, 'tools/call'), { headers: { added } }));
    expect(JSON.stringify(failure)).toContain('is not known');
    expect(JSON.stringify(failure)).not.toMatch(/user-8b1f|hook-token/);
  });

  it('stay behind if a redirect leads to another origin.', async () => {
    const { server: elsewhere } = await connect(mcp({ sessionId: 's' }));
    const { transport } = await connect(refuse(307, '', { location: elsewhere.url }), {});
    await open(transport);
    await transport.send(request(1, 'tools/call'), { headers: { added } });
    const [call] = elsewhere.seen.filter(({ rpc }) => rpc.method === 'tools/call');
    expect([call?.headers['x-user'], call?.headers.authorization]).toEqual([undefined, undefined]);
  });
});

describe('ForwardedHeaders', () => {
  const forwarded = new ForwardedHeaders(['X-A', 'x-b', 'Cookie', 'Mcp-Session-Id']);

  it('finds names in any case, and joins several values.', () => {
    expect(forwarded.of({ 'X-a': '1', 'X-B': ['2', '3'], cookie: 'c', 'mcp-session-id': 'm' })).toEqual({
      'x-a': '1',
      'x-b': '2, 3',
    });
  });

  it('leaves out what the client names in Connection.', () => {
    expect(forwarded.of({ connection: 'close, X-A', 'x-a': '1', 'x-b': '2' })).toEqual({ 'x-b': '2' });
  });

  it('refuses a value that no header can hold, without showing it.', () => {
    expect(() => forwarded.of({ 'x-a': 'one\r\ntwo: 2' })).toThrow(/"x-a"(?!.*two)/);
  });
});
