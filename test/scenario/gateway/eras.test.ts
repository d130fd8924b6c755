/** What the eras of MCP have no common form for, through the gateway: visits of addresses, and questions of either era. */
import { afterEach, describe, expect, it } from 'vitest';
import { serveHttp, type HttpService } from '../../../src/gateway/http/serve-http.js';
import type { ServeHttpOptions } from '../../../src/gateway/http/serve-http-options.js';
import { ask } from '../../support/gateway-http-client.js';
import { useGateways } from '../../support/gateway-rig.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, ScriptedServer, text, tool, type Handler } from '../../support/scripted-server.js';
import type { ServerSettings } from '../../../src/config/entry/server-config.js';
import type { TaskState } from '../../../src/testing/server-script.js';
import { requestHeaders } from '../../../src/protocol/mirrored-headers.js';
import { exchange, metaOf, NEW, type Answer, type Stateless } from '../../support/stateless-http-client.js';
import { inProcess, passTime } from '../../support/test-troupe.js';

useLeakCheck();
const gateways = useGateways();
const services: HttpService[] = [];
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close({ gracePeriodMs: 0 })));
});

type Params = Readonly<Record<string, unknown>>;

const ADDRESS = 'https://example.com/consent';
const VISIT = { mode: 'url', message: 'Please agree', url: ADDRESS };
const VISITS: Stateless = { capabilities: { elicitation: { form: {}, url: {} } } };
const ELICITATION_NEEDED = -32_042;

/** Refuses until somebody has visited the address. */
function untilVisited(isVisited: () => boolean): Handler {
  const needed = refuse(ELICITATION_NEEDED, 'Visit first', {
    elicitations: [{ ...VISIT, elicitationId: 'e1' }],
  });
  return (params, about) => (isVisited() ? text('agreed') : needed(params, about));
}

const asking =
  (requests: Params): Handler =>
  (params) =>
    params['inputResponses'] === undefined
      ? { resultType: 'input_required', inputRequests: requests, requestState: 'sealed' }
      : text(JSON.stringify([params['inputResponses'], params['requestState']]));

async function serve(server: ScriptedServer, http: ServeHttpOptions = {}, settings: ServerSettings = {}) {
  const servers = { s: inProcess(server, settings) };
  const { gateway, clock, client } = gateways.make({ servers, cache: false });
  await passTime(clock, gateway.start());
  const service = await serveHttp(gateway, { clock, ...http });
  services.push(service);
  const call = (about: Stateless, round: Params = {}): Promise<Answer> =>
    exchange(service.port, 'tools/call', { name: 'mcp__s__echo', arguments: {}, ...round }, about);
  const read = (user: string): Promise<Answer> =>
    exchange(
      service.port,
      'resources/read',
      { uri: 'note://mine' },
      { headers: { authorization: `Bearer ${user}` } },
    );
  return { call, client, read, clock, service };
}

describe('A server of the old era that wants an address visited first', () => {
  it('makes a client without a session visit it and come back.', async () => {
    let isVisited = false;
    const server = new ScriptedServer({ on: { 'tools/call': untilVisited(() => isVisited) } });
    const { call } = await serve(server);
    const { result } = await call(VISITS);
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'visit-1': { method: 'elicitation/create', params: VISIT } },
    });
    expect(JSON.stringify(result)).not.toContain('elicitationId');
    isVisited = true;
    const done = await call(VISITS, { inputResponses: { 'visit-1': { action: 'accept' } } });
    expect(done.result).toMatchObject(text('agreed'));
  });

  it('refuses a client without a session that cannot visit addresses.', async () => {
    const { call } = await serve(new ScriptedServer({ on: { 'tools/call': untilVisited(() => false) } }));
    const { status, error } = await call({ capabilities: { elicitation: { form: {} } } });
    expect([status, error]).toMatchObject([
      400,
      { code: -32_021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    ]);
  });

  it('does not ask again if the person has refused.', async () => {
    const { call } = await serve(new ScriptedServer({ on: { 'tools/call': untilVisited(() => false) } }));
    const { error } = await call(VISITS, { inputResponses: { 'visit-1': { action: 'decline' } } });
    expect(error).toMatchObject({ code: -32_000, data: { reason: 'declined' } });
  });

  it('refuses a client with a session as it did before.', async () => {
    const { client } = await serve(new ScriptedServer({ on: { 'tools/call': untilVisited(() => false) } }));
    const old = await client('ada', { capabilities: { elicitation: { form: {}, url: {} } } });
    await expect(old.call('mcp__s__echo')).rejects.toMatchObject({
      code: ELICITATION_NEEDED,
      data: { elicitations: [{ url: ADDRESS, elicitationId: 'e1' }] },
    });
  });
});

describe('A server of the old era that asks during a call for a visit', () => {
  it('reaches a client without a session.', async () => {
    const on = {
      'tools/call': { ask: { method: 'elicitation/create', params: { ...VISIT, elicitationId: 'e1' } } },
    };
    const { call } = await serve(new ScriptedServer({ on }));
    const { result } = await call(VISITS);
    const [[key, question] = ['', undefined]] = Object.entries(result?.['inputRequests'] as Params);
    expect(question).toEqual({ method: 'elicitation/create', params: VISIT });
    const round = { requestState: result?.['requestState'], inputResponses: { [key]: { action: 'accept' } } };
    const done = await call(VISITS, round);
    expect(JSON.stringify(done.result)).toContain('accept');
  });
});

describe('A server of the new era', () => {
  const form = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
  const requests = {
    who: { method: 'elicitation/create', params: form },
    say: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
    where: { method: 'roots/list', params: {} },
  };

  it('asks a client with a session one question after the other, and gets its state back.', async () => {
    const server = new ScriptedServer({ era: 'new', on: { 'tools/call': asking(requests) } });
    const { client } = await serve(server);
    const ada = await client('ada', { capabilities: { elicitation: {}, sampling: {}, roots: {} } });
    const [answers, state] = JSON.parse(await ada.call('mcp__s__echo')) as [Params, unknown];
    expect(state).toBe('sealed');
    expect(answers).toMatchObject({
      who: { action: 'accept', content: { name: 'ada' } },
      say: { model: 'ada' },
      where: { roots: [{ uri: 'file:///home/ada' }] },
    });
    expect(ada.questions).toHaveLength(3);
  });

  it('asks only the client with a session whose call it is about.', async () => {
    const server = new ScriptedServer({ era: 'new', on: { 'tools/call': asking({ who: requests.who }) } });
    const { client } = await serve(server);
    const capabilities = { elicitation: {} };
    const [ada, bob] = [await client('ada', { capabilities }), await client('bob', { capabilities })];
    const said = await Promise.all([ada.call('mcp__s__echo'), bob.call('mcp__s__echo')]);
    expect(said.map((each) => /"name":"(\w+)"/.exec(each)?.[1])).toEqual(['ada', 'bob']);
    expect([ada.questions, bob.questions]).toEqual([['Who?'], ['Who?']]);
  });

  it('that asks a client with a session for what it cannot do has its call end with an error.', async () => {
    const server = new ScriptedServer({ era: 'new', on: { 'tools/call': asking({ say: requests.say }) } });
    const { client } = await serve(server);
    const ada = await client('ada', { capabilities: { elicitation: {} } });
    const { isError } = await ada.client.callTool({ name: 'mcp__s__echo', arguments: {} });
    expect(isError).toBe(true);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('has a client visit an address, in either era.', async () => {
    const visit = { visit: { method: 'elicitation/create', params: VISIT } };
    const server = new ScriptedServer({ era: 'new', on: { 'tools/call': asking(visit) } });
    const { call, client } = await serve(server);
    expect((await call(VISITS)).result).toMatchObject({ inputRequests: visit, requestState: 'sealed' });
    const ada = await client('ada', { capabilities: { elicitation: { form: {}, url: {} } } });
    expect(JSON.parse(await ada.call('mcp__s__echo'))).toMatchObject([
      { visit: { action: 'accept' } },
      'sealed',
    ]);
    expect(ada.questions).toEqual(['Please agree']);
  });
});

describe('A server of the new era that runs a call as a task', () => {
  const form = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
  const asks = {
    status: 'input_required',
    inputRequests: { who: { method: 'elicitation/create', params: form } },
  };
  const says = { statusMessage: 'half way' };
  const running = (...task: TaskState[]): ScriptedServer =>
    new ScriptedServer({ era: 'new', on: { 'tools/call': { result: text('done'), task } } });
  const follows = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

  it('has it finished by the gateway: a client that follows tasks gets the result and its progress.', async () => {
    const server = running({}, says, { status: 'completed' });
    const { call, clock } = await serve(server);
    const answer = await passTime(clock, call({ capabilities: follows, meta: { progressToken: 'p' } }));
    expect(answer.result).toMatchObject({ resultType: 'complete', ...text('done') });
    expect(answer.before).toMatchObject([
      {
        method: 'notifications/progress',
        params: { progressToken: 'p', progress: 1, message: 'half way' },
      },
    ]);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('is also used by clients that know no tasks, of either era.', async () => {
    const server = running({}, { status: 'completed' });
    const { call, client, clock } = await serve(server);
    expect((await passTime(clock, call({}))).result).toMatchObject(text('done'));
    const ada = await client('ada');
    expect(await passTime(clock, ada.call('mcp__s__echo'))).toBe('done');
  });

  it('asks the client whose call it is: with a session at once, without one as the answer.', async () => {
    const server = running({}, asks, { status: 'completed' });
    const { call, client, clock } = await serve(server);
    const [ada, bob] = [
      await client('ada', { capabilities: { elicitation: {} } }),
      await client('bob', { capabilities: { elicitation: {} } }),
    ];
    expect(await passTime(clock, ada.call('mcp__s__echo'))).toBe('done');
    expect([ada.questions, bob.questions]).toEqual([['Who?'], []]);

    const about = { capabilities: { elicitation: { form: {} } } };
    const { result } = await passTime(clock, call(about));
    const [[key, question] = ['', undefined]] = Object.entries(result?.['inputRequests'] as Params);
    expect(question).toEqual({ method: 'elicitation/create', params: form });
    const inputResponses = { [key]: { action: 'accept', content: { name: 'eve' } } };
    const round = { requestState: result?.['requestState'], inputResponses };
    expect((await passTime(clock, call(about, round))).result).toMatchObject(text('done'));
    expect(server.of('tasks/update').at(-1)?.params['inputResponses']).toMatchObject({
      who: { content: { name: 'eve' } },
    });
  });

  it('has it cancelled if the client goes away.', async () => {
    const server = running({});
    const { service } = await serve(server);
    const leaving = new AbortController();
    const params = { name: 'mcp__s__echo', arguments: {} };
    const gone = ask(service.port, {
      signal: leaving.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...requestHeaders(NEW, 'tools/call', params),
      },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: metaOf() } },
    }).catch(() => {});
    await server.whenReceived('tools/call');
    leaving.abort();
    await gone;
    expect((await server.whenReceived('tasks/cancel')).params).toMatchObject({ taskId: 'task-1' });
  });

  it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    'refuses %s: the gateway has no tasks.',
    async (method) => {
      const { service } = await serve(running({}));
      const answer = await exchange(service.port, method, { taskId: 'task-1' }, { capabilities: follows });
      expect(answer).toMatchObject({ status: 404, error: { code: -32_601 } });
    },
  );
});

describe('What a server gives as private', () => {
  it('is read again for every user, and never kept.', async () => {
    let reads = 0;
    const hints = { ttlMs: 60_000, cacheScope: 'private' };
    const server = new ScriptedServer({
      era: 'new',
      capabilities: { resources: {} },
      on: {
        'resources/list': { result: { resources: [{ uri: 'note://mine', name: 'mine' }], ...hints } },
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: String((reads += 1)) }], ...hints }),
      },
    });
    const verifyToken = async (token: string) => ({ subject: token, scopes: [] });
    const { read } = await serve(server, { oauth: { issuers: ['https://as.example'], verifyToken } });
    const answers = [await read('ada'), await read('bob'), await read('ada')];
    expect(answers.map(({ result }) => result)).toMatchObject(
      ['1', '2', '3'].map((text) => ({ contents: [{ text }], ...hints })),
    );
  });

  it('as a list is seen by its user alone: each has a connection of its own, and what that lists.', async () => {
    const listed = (_: Params, { session }: { readonly session: number }): Params => ({
      tools: [tool(`of-${session}`)],
      ttlMs: 60_000,
      cacheScope: 'private',
    });
    const server = new ScriptedServer({ era: 'new', on: { 'tools/list': listed } });
    const verifyToken = async (token: string) => ({ subject: token, scopes: [] });
    const oauth = { issuers: ['https://as.example'], verifyToken };
    const { service, clock } = await serve(server, { oauth }, { isolation: 'per-session' });
    const listOf = async (user: string): Promise<unknown> => {
      const about = { headers: { authorization: `Bearer ${user}` } };
      const { result } = await passTime(clock, exchange(service.port, 'tools/list', {}, about));
      expect(result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
      return (result!['tools'] as { name: string }[]).map(({ name }) => name);
    };
    const [ada, bob] = [await listOf('ada'), await listOf('bob')];
    expect(ada).not.toEqual(bob);
    expect([await listOf('ada'), await listOf('bob')]).toEqual([ada, bob]);
  });
});
