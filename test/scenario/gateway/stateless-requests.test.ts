/** Requests without a session (MCP 2026-07-28), over HTTP, in front of servers of the old era. */
import { afterEach, describe, expect, it } from 'vitest';
import { serveHttp, type HttpService } from '../../../src/gateway/http/serve-http.js';
import type { ServeHttpOptions } from '../../../src/gateway/http/serve-http-options.js';
import type { GatewayOptions } from '../../../src/gateway/gateway-options.js';
import type { ControlledClock } from '../../support/controlled-clock.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { ANSWERS_ALL, useGateways } from '../../support/gateway-rig.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { passTime } from '../../support/test-troupe.js';
import { exchange, send, type Answer, type Stateless } from '../../support/stateless-http-client.js';

useLeakCheck();
const gateways = useGateways();
const services: HttpService[] = [];
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close({ gracePeriodMs: 0 })));
});

type Params = Readonly<Record<string, unknown>>;

interface Served {
  readonly clock: ControlledClock;
  readonly service: HttpService;
  ask(method: string, params?: Params, about?: Stateless): Promise<Answer>;
  call(name: string, args?: Params, about?: Stateless, round?: Params): Promise<Answer>;
}

async function serve(
  servers: NonNullable<GatewayOptions['servers']>,
  options: GatewayOptions = {},
  http: ServeHttpOptions = {},
): Promise<Served> {
  const { gateway, clock } = gateways.make({ servers, ...options });
  await gateway.start();
  const service = await serveHttp(gateway, { clock, ...http });
  services.push(service);
  const askIt: Served['ask'] = (method, params, about) => exchange(service.port, method, params, about);
  return {
    clock,
    service,
    ask: askIt,
    call: (name, args = {}, about = {}, round = {}) =>
      askIt('tools/call', { name: `mcp__s__${name}`, arguments: args, ...round }, about),
  };
}

const ALL: Stateless = { capabilities: ANSWERS_ALL };
const FORM_ARGS = { for: 'ada', message: 'Deploy?' };
const textIn = ({ result }: Answer): string =>
  (result?.['content'] as { text: string }[] | undefined)?.[0]?.text ?? '';

/** The state and the only question of an answer. */
function questionIn({ result }: Answer): { state: unknown; key: string; method: string } {
  expect(result).toMatchObject({ resultType: 'input_required' });
  const [[key, { method }] = ['', { method: '' }]] = Object.entries(
    result?.['inputRequests'] as Record<string, { method: string }>,
  );
  return { state: result?.['requestState'], key, method };
}

describe('A client without a session', () => {
  it('discovers, lists, reads, gets, completes and calls.', async () => {
    const upstream = new AskingUpstream();
    const { ask, call } = await serve({ s: upstream.entry() });
    const results = [
      await ask('server/discover'),
      await ask('tools/list'),
      await ask('resources/list'),
      await ask('resources/templates/list'),
      await ask('prompts/list'),
      await ask('resources/read', { uri: 'note://one' }),
      await ask('prompts/get', { name: 'mcp__s__greet' }),
      await ask('completion/complete', {
        ref: { type: 'ref/prompt', name: 'mcp__s__greet' },
        argument: { name: 'a', value: 'b' },
      }),
      await call('raw', { for: 'x' }),
    ];
    expect(results.map(({ status, result }) => [status, result?.['resultType']])).toEqual(
      results.map(() => [200, 'complete']),
    );
    const hints = results.map(({ result }) => [result?.['ttlMs'], result?.['cacheScope']]);
    expect(hints).toEqual([
      ...Array.from({ length: 6 }, () => [0, 'private']),
      ...Array.from({ length: 3 }, () => [undefined, undefined]),
    ]);
    expect(results[0]?.result).toMatchObject({ supportedVersions: ['2026-07-28'] });
    expect(results[8]?.result).toMatchObject({ structuredContent: { a: 1 }, _meta: { mark: 'x' } });
    // What the client says to the gateway is not for the server.
    expect(upstream.of('tools/call').map(({ _meta: meta }) => meta)).toEqual([
      { progressToken: expect.anything() },
    ]);
  });

  it.each(['ask', 'call'] as const)('shares no session with the gateway: %s needs none.', async (what) => {
    const { service, ask, call } = await serve({ s: new AskingUpstream().entry() });
    await (what === 'ask' ? ask('tools/list') : call('echo'));
    expect(service.sessions).toBe(0);
  });

  it('gets a question as the answer, and answers it by coming back.', async () => {
    const upstream = new AskingUpstream({ isRelating: false });
    const { call } = await serve({ s: upstream.entry() });
    const asked = await call('ask', FORM_ARGS, ALL);
    const { state, key, method } = questionIn(asked);
    expect(method).toBe('elicitation/create');
    const answer = { action: 'accept', content: { name: 'ada' } };
    const round = { requestState: state, inputResponses: { [key]: answer } };
    const done = await call('ask', FORM_ARGS, ALL, round);
    expect(JSON.parse(textIn(done))).toMatchObject({ for: 'ada', answer });
    expect(upstream.of('tools/call')).toHaveLength(1);
    // A state is good for one time.
    expect((await call('ask', FORM_ARGS, ALL, round)).error).toMatchObject({ code: -32602 });
  });

  it.each(['sampling/createMessage', 'roots/list'])('is asked for %s in the same way.', async (method) => {
    const { call } = await serve({ s: new AskingUpstream().entry() });
    const args = { ...FORM_ARGS, method };
    const { state, key, method: asked } = questionIn(await call('ask', args, ALL));
    expect(asked).toBe(method);
    const answer =
      method === 'roots/list'
        ? { roots: [{ uri: 'file:///x' }] }
        : { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } };
    const done = await call('ask', args, ALL, { requestState: state, inputResponses: { [key]: answer } });
    expect(JSON.parse(textIn(done))).toMatchObject({ answer });
  });

  it('is asked again if an answer is missing, and cannot bring a state to another request.', async () => {
    const { call } = await serve({ s: new AskingUpstream().entry() });
    const first = questionIn(await call('ask', FORM_ARGS, ALL));
    const other = { requestState: first.state, inputResponses: {} };
    expect((await call('ask', { ...FORM_ARGS, message: 'Delete?' }, ALL, other)).error?.code).toBe(-32602);
    expect((await call('echo', FORM_ARGS, ALL, other)).error?.code).toBe(-32602);
    const again = questionIn(await call('ask', FORM_ARGS, ALL, other));
    expect([again.key, again.state === first.state]).toEqual([first.key, false]);
  });

  it('that does not come back in time has its call cancelled.', async () => {
    const upstream = new AskingUpstream();
    const { call, clock } = await serve({ s: upstream.entry() }, { questionTimeoutMs: 60_000 });
    const { state } = questionIn(await call('ask', { ...FORM_ARGS, keeps: true }, ALL));
    await clock.advance(60_000);
    await upstream.when(() => upstream.cancelled.includes('ada'));
    expect(upstream.of('tools/call')).toHaveLength(1);
    const late = await call('ask', { ...FORM_ARGS, keeps: true }, ALL, { requestState: state });
    expect(late.error).toMatchObject({ code: -32602, data: { reason: 'unknown-request-state' } });
  });

  it('is never asked what it has not declared.', async () => {
    const upstream = new AskingUpstream();
    const { call } = await serve({ s: upstream.entry() });
    const args = { ...FORM_ARGS, method: 'sampling/createMessage' };
    const done = await call('ask', args, { capabilities: { elicitation: {} } });
    expect(JSON.parse(textIn(done))).toMatchObject({ answer: { error: { code: -32601 } } });
  });

  it('is asked only its own questions, although its requests share connections with others.', async () => {
    const upstream = new AskingUpstream({ isRelating: false });
    const { call } = await serve({ s: upstream.entry() });
    const names = ['ada', 'bob', 'cyd'];
    const played = names.map(async (name) => {
      const args = { for: name, message: name };
      const asked = await call('ask', args, ALL);
      const { state, key } = questionIn(asked);
      const { inputRequests } = asked.result as {
        inputRequests: Record<string, { params: { message: string } }>;
      };
      const { message } = inputRequests[key]!.params;
      const answer = { action: 'accept', content: { name: message } };
      return call('ask', args, ALL, { requestState: state, inputResponses: { [key]: answer } });
    });
    const said = (await Promise.all(played)).map((answer) => JSON.parse(textIn(answer)) as Params);
    expect(said.map((one) => (one['answer'] as { content: Params }).content['name'])).toEqual(
      names.map((name) => `for ${name}`),
    );
  });

  it('that leaves while it waits has cancelled its call.', async () => {
    const upstream = new AskingUpstream();
    const { service } = await serve({ s: upstream.entry() });
    const params = { name: 'mcp__s__wait', arguments: { for: 'ada' } };
    const leaving = new AbortController();
    const port = service.port;
    const reply = fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': params.name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { ...params, _meta: META },
      }),
      signal: leaving.signal,
    }).catch(() => {});
    await upstream.when(() => upstream.of('tools/call').length === 1);
    leaving.abort();
    await reply;
    await upstream.when(() => upstream.cancelled.includes('ada'));
    expect(upstream.of('tools/call')).toHaveLength(1);
  });

  it('gets progress and the log messages that it wants before the answer.', async () => {
    const { call } = await serve({ s: new AskingUpstream().entry() });
    const steps = await call('steps', { for: 'ada' }, { meta: { progressToken: 'mine' } });
    expect(steps.before).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'mine', message: 'for ada' } },
    ]);
    const level = (wanted: string): Stateless => ({ meta: { 'io.modelcontextprotocol/logLevel': wanted } });
    const logged = [
      await call('log', { for: 'ada' }),
      await call('log', { for: 'ada' }, level('error')),
      await call('log', { for: 'ada' }, level('info')),
    ];
    expect(logged.map(({ before }) => before.length)).toEqual([0, 0, 1]);
  });

  it('hears of changes of lists and resources on the stream that it asks for.', async () => {
    const upstream = new AskingUpstream();
    const { service, clock } = await serve({ s: upstream.entry(), t: new AskingUpstream().entry() });
    const reply = await send(
      service.port,
      'subscriptions/listen',
      { notifications: { toolsListChanged: true, resourceSubscriptions: ['s+note://one', 'no://where'] } },
      { id: 'listen' },
    );
    const tag = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen' } };
    expect((await reply.event())?.message).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { ...tag, notifications: { toolsListChanged: true, resourceSubscriptions: ['s+note://one'] } },
    });
    const [connection] = upstream.connections;
    await connection?.server.sendResourceUpdated({ uri: 'note://one' });
    expect((await reply.event())?.message).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 's+note://one', ...tag },
    });
    upstream.tools = [tool('new')];
    await connection?.server.sendToolListChanged();
    expect((await passTime(clock, reply.event()))?.message).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: tag,
    });
    const closing = service.close();
    expect((await reply.event())?.message).toMatchObject({
      id: 'listen',
      result: { resultType: 'complete' },
    });
    await closing;
  });

  it('sees no server that keeps state for each client, unless it has a name.', async () => {
    const upstream = new AskingUpstream();
    const entry = upstream.entry({ isolation: 'per-session' });
    const { ask, call } = await serve({ s: entry });
    expect((await ask('tools/list')).result?.['tools']).toEqual([]);
    expect((await call('raw')).error).toMatchObject({
      code: -32602,
      data: { server: 's', reason: 'needs-session' },
    });
    expect((await ask('tools/call', { name: 'mcp__other__raw', arguments: {} })).error?.data).toEqual({
      tool: 'mcp__other__raw',
    });
    const verifyToken = async (token: string) => ({ subject: token, scopes: [] });
    const named = await serve({ s: entry }, {}, { oauth: { issuers: ['https://as.example'], verifyToken } });
    const listed = await named.ask('tools/list', {}, { headers: { authorization: 'Bearer ada' } });
    expect(listed.result?.['tools']).not.toEqual([]);
  });

  it('of one subject cannot answer the question of another.', async () => {
    const verifyToken = async (token: string) => ({ subject: token, scopes: [] });
    const oauth = { issuers: ['https://as.example'], verifyToken };
    const { call } = await serve({ s: new AskingUpstream().entry() }, {}, { oauth });
    const as = (name: string): Stateless => ({ ...ALL, headers: { authorization: `Bearer ${name}` } });
    const { state, key } = questionIn(await call('ask', FORM_ARGS, as('ada')));
    const round = { requestState: state, inputResponses: { [key]: { action: 'accept' } } };
    expect((await call('ask', FORM_ARGS, as('eve'), round)).error?.code).toBe(-32602);
    expect((await call('ask', FORM_ARGS, as('ada'), round)).error).toBeUndefined();
  });
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('A request without a session is refused', () => {
  const other = (changes: Params): Params => ({ ...META, ...changes });
  it.each<
    [what: string, method: string, params: Params, headers: Record<string, string>, expected: number[]]
  >([
    ['another version', 'tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }, [400, -32020]],
    ['no version header', 'tools/list', {}, { 'mcp-protocol-version': '' }, [400, -32020]],
    ['another method', 'tools/list', {}, { 'mcp-method': 'tools/call' }, [400, -32020]],
    ['another name', 'tools/call', { name: 'a' }, { 'mcp-name': 'b' }, [400, -32020]],
    ['an unreadable name', 'tools/call', { name: 'a' }, { 'mcp-name': '=?base64?!?=' }, [400, -32020]],
    ['an unknown method', 'no/such', {}, {}, [404, -32601]],
    ['a method of sessions', 'initialize', {}, {}, [404, -32601]],
    ['params that are wrong', 'subscriptions/listen', { notifications: 5 }, {}, [200, -32602]],
    ['an unknown tool', 'tools/call', { name: 'none' }, {}, [200, -32602]],
    ['an unknown resource', 'resources/read', { uri: 'none://1' }, {}, [200, -32602]],
  ])('with %s.', async (_, method, params, headers, expected) => {
    const { ask } = await serve({ s: new AskingUpstream().entry(), t: new AskingUpstream().entry() });
    const { status, error } = await ask(method, params, { headers });
    expect([status, error?.code]).toEqual(expected);
  });

  it.each<[what: string, body: unknown, expected: (number | null | undefined)[]]>([
    ['no _meta', { jsonrpc: '2.0', id: 7, method: 'tools/list' }, [400, -32602, 7]],
    [
      'no capabilities',
      request({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }),
      [400, -32602, 7],
    ],
    [
      'an unknown version',
      request(other({ 'io.modelcontextprotocol/protocolVersion': 'v9' })),
      [400, -32020, 7],
    ],
    ['a wrong log level', request(other({ 'io.modelcontextprotocol/logLevel': 'loud' })), [400, -32602, 7]],
    ['a batch', [request(META)], [400, -32600, null]],
    ['an answer', { jsonrpc: '2.0', id: 7, result: {} }, [400, -32600, null]],
    ['a number', 5, [400, -32600, null]],
    ['a wrong id', { ...request(META), id: {} }, [400, -32600, null]],
    [
      'a notification',
      { jsonrpc: '2.0', method: 'notifications/x', params: {} },
      [202, undefined, undefined],
    ],
    ['too many bytes', request(other({ x: 'x'.repeat(20_000) })), [413, -32600, null]],
  ])('that is %s.', async (_, body, expected) => {
    const { service } = await serve({ s: new AskingUpstream().entry() }, {}, { maxBodyBytes: 10_000 });
    const answer = await fetch(service.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
      },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    const { id, error } = (text === '' ? {} : JSON.parse(text)) as { id?: number; error?: { code: number } };
    expect([answer.status, error?.code, id]).toEqual(expected);
  });

  it('if the header and the body both name an unknown version.', async () => {
    const { ask } = await serve({ s: new AskingUpstream().entry() });
    const answer = await ask(
      'tools/list',
      {},
      {
        meta: { 'io.modelcontextprotocol/protocolVersion': 'v9' },
        headers: { 'mcp-protocol-version': 'v9' },
      },
    );
    expect([answer.status, answer.error]).toMatchObject([
      400,
      { code: -32022, data: { supported: ['2026-07-28'], requested: 'v9' } },
    ]);
  });

  it.each(['GET', 'DELETE'])('by %s.', async (method) => {
    const { service } = await serve({ s: new AskingUpstream().entry() });
    const headers = { accept: 'text/event-stream', 'mcp-protocol-version': '2026-07-28' };
    const answer = await fetch(service.url, { method, headers });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    await answer.text();
  });

  it('without the token, whatever it says.', async () => {
    const { ask } = await serve({ s: new AskingUpstream().entry() }, {}, { token: 'secret' });
    expect((await ask('server/discover')).status).toBe(401);
  });

  it('if too many are in flight.', async () => {
    const upstream = new AskingUpstream();
    const { call } = await serve({ s: upstream.entry() }, {}, { maxHttpSessions: 1 });
    const first = call('wait', { for: 'ada' });
    await upstream.when(() => upstream.of('tools/call').length === 1);
    expect((await call('echo')).status).toBe(503);
    upstream.gate('ada').open();
    expect(textIn(await first)).toBe('waited for ada');
  });
});

function request(meta: Params): Params {
  return { jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta: meta } };
}
