/** Servers of MCP 2026-07-28, which has no sessions, through a whole troupe. */
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, text, tool, type Script, type Handler } from '../../support/scripted-server.js';
import { useOneServer } from '../../support/one-server.js';
import { passTime } from '../../support/test-troupe.js';

useLeakCheck();
const begin = useOneServer();

const META = 'io.modelcontextprotocol/';
const NEW: Script = { era: 'new' };
const RESOURCES = { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} };

const metaOf = (params: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  params['_meta'] as Record<string, unknown>;

/** Asks for the roots of the host, then answers with them. */
const asking: Handler = ({ inputResponses, requestState }) =>
  inputResponses === undefined
    ? {
        resultType: 'input_required',
        inputRequests: { where: { method: 'roots/list', params: {} } },
        requestState: 'a\u0000 b=',
      }
    : text(JSON.stringify([inputResponses, requestState]));

describe('a server of the new era', () => {
  it('is found out by its refusal, and asked first in its era from then on', async () => {
    const { server, a, clock } = await begin(NEW);
    expect(a.status).toMatchObject({ state: 'ready', protocolVersion: '2026-07-28' });
    expect(a.status.serverInfo).toEqual({ name: 'scripted', version: '1.2.3' });
    const first = server.received.map(({ method }) => method);
    expect(first.slice(0, 3)).toEqual(['initialize', 'server/discover', 'tools/list']);
    expect(first).not.toContain('notifications/initialized');
    await passTime(clock, a.restart());
    expect(server.of('initialize')).toHaveLength(1);
    expect(server.of('server/discover')).toHaveLength(2);
  });

  it('is asked nothing in the other era if its entry says so', async () => {
    const { server, a } = await begin(NEW, { protocol: 'new' });
    expect(a.status.protocolVersion).toBe('2026-07-28');
    expect(server.of('initialize')).toEqual([]);
  });

  it('gets the version and the capabilities with every request, and no id twice', async () => {
    const { server, a } = await begin(NEW, {}, { handlers: { roots: () => [] } });
    await a.callTool('echo', { n: 1 });
    const [call] = server.of('tools/call');
    expect(metaOf(call!.params)).toMatchObject({
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientCapabilities`]: { roots: {} },
    });
    expect(metaOf(call!.params)[`${META}clientInfo`]).toHaveProperty('name');
    const ids = server.received.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('asks the host during a call, whose origin is certain, and gets its state back unchanged', async () => {
    const origins: unknown[] = [];
    const roots = (about: { readonly origin?: { readonly context: unknown } | undefined }): [] => {
      origins.push(about.origin?.context);
      return [];
    };
    const { server, a } = await begin({ ...NEW, on: { 'tools/call': asking } }, {}, { handlers: { roots } });
    const answers = await Promise.all([
      a.callTool('echo', {}, { context: 'ada' }),
      a.callTool('echo', {}, { context: 'bob' }),
    ]);
    expect(new Set(origins)).toEqual(new Set(['ada', 'bob']));
    const expected = JSON.stringify([{ where: { roots: [] } }, 'a\u0000 b=']);
    expect(answers.map(({ content }) => content)).toEqual([text(expected).content, text(expected).content]);
    expect(server.of('tools/call')).toHaveLength(4);
    expect(server.answers).toEqual([]);
  });

  it('learns of a cancelled call', async () => {
    const { server, a } = await begin({ ...NEW, on: { 'tools/call': silent } });
    const controller = new AbortController();
    const call = a.callTool('echo', {}, { signal: controller.signal });
    call.catch(() => {});
    const { id } = await server.whenReceived('tools/call');
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: 'CallAbortedError' });
    const cancelled = await server.whenReceived('notifications/cancelled');
    expect(cancelled.params).toMatchObject({ requestId: id });
  });

  it('reports progress', async () => {
    const { a } = await begin({ ...NEW, on: { 'tools/call': { progress: 2 } } });
    const heard: number[] = [];
    await a.callTool('echo', {}, { onProgress: ({ progress }) => heard.push(progress) });
    expect(heard).toEqual([1, 2]);
  });

  it('gets the log level with the requests that follow', async () => {
    const { server, a } = await begin({ ...NEW, capabilities: RESOURCES });
    await a.callTool('echo');
    await a.setLogLevel('warning');
    await a.callTool('echo');
    const levels = server.of('tools/call').map(({ params }) => metaOf(params)[`${META}logLevel`]);
    expect(levels).toEqual([undefined, 'warning']);
    expect(server.of('logging/setLevel')).toEqual([]);
  });

  it('is probed with server/discover', async () => {
    const { server, a, clock } = await begin(NEW, { policy: { ping: { idleMs: 5_000, timeoutMs: 1_000 } } });
    const before = server.of('server/discover').length;
    await clock.advance(6_000);
    await server.whenReceived('server/discover', before + 1);
    expect(server.of('ping')).toEqual([]);
    expect(a.state).toBe('ready');
  });
});

describe('the stream of changes', () => {
  it('is opened without delay, and its news are read', async () => {
    const { server, troupe, clock } = await begin(NEW);
    const { params } = await server.whenReceived('subscriptions/listen');
    expect(params['notifications']).toEqual({ toolsListChanged: true });
    server.changeTools([tool('one'), tool('two')]);
    await clock.advance(1_000);
    await server.whenReceived('tools/list', 2);
    await clock.advance(0);
    expect(troupe.tools.map(({ name }) => name)).toEqual(['mcp__a__one', 'mcp__a__two']);
  });

  it('is opened again after it ended, and the lists are read again; calls go on', async () => {
    const { server, a, clock } = await begin(NEW);
    const { id } = await server.whenReceived('subscriptions/listen');
    await clock.advance(0);
    const lists = server.of('tools/list').length;
    server.send({ jsonrpc: '2.0', id, result: { resultType: 'complete' } });
    await clock.advance(499);
    expect(server.of('subscriptions/listen')).toHaveLength(1);
    await a.callTool('echo');
    await clock.advance(1);
    await server.whenReceived('subscriptions/listen', 2);
    await clock.advance(1_000);
    await server.whenReceived('tools/list', lists + 1);
    expect(a.state).toBe('ready');
    expect(server.sessions).toBe(1);
  });

  it('is given up if the server does not know it, which a diagnostic says', async () => {
    const unknown = { error: { code: -32601, message: 'Method not found' } };
    const { server, a, clock, events } = await begin({ ...NEW, on: { 'subscriptions/listen': unknown } });
    await server.whenReceived('subscriptions/listen');
    await clock.advance(60_000);
    expect(server.of('subscriptions/listen')).toHaveLength(1);
    expect(events.of('diagnostic').map(({ kind }) => kind)).toContain('no-listening-stream');
    await passTime(clock, a.refresh());
    await server.whenReceived('subscriptions/listen', 2);
  });

  it('includes the resources that are watched', async () => {
    const { server, a, clock } = await begin({ ...NEW, capabilities: RESOURCES });
    await server.whenReceived('subscriptions/listen');
    await passTime(clock, a.subscribe('note://one'));
    await clock.advance(1_000);
    const { params } = await server.whenReceived('subscriptions/listen', 2);
    expect(params['notifications']).toMatchObject({ resourceSubscriptions: ['note://one'] });
    expect(server.of('resources/subscribe')).toEqual([]);
  });
});

describe('a server of both eras', () => {
  it('is spoken to in the old era, and asked nothing else', async () => {
    const { server, a } = await begin({ era: 'both' });
    expect(a.status.protocolVersion).toBe('2025-11-25');
    expect(server.of('server/discover')).toEqual([]);
  });

  it('is spoken to in the new era if its entry says so', async () => {
    const { a } = await begin({ era: 'both' }, { protocol: 'new' });
    expect(a.status.protocolVersion).toBe('2026-07-28');
  });
});
