/** What passes through the gateway, and under which names. */
import { Server as SdkServer } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ElicitRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { passTime } from '../../support/test-troupe.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { ANSWERS_ALL, useGateways } from '../../support/gateway-rig.js';

describe('through the gateway', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  it('tools are listed under the names of the registry, with everything else unchanged', async () => {
    const raw = tool('Do.It', { _meta: { mark: 1 }, icons: [{ src: 'data:image/png;base64,AA==' }] });
    const a = new AskingUpstream({ tools: [raw, tool('echo')] });
    const b = new AskingUpstream({ tools: [tool('echo')] });
    const { gateway, client } = make({ servers: { b: b.entry(), a: a.entry() } });
    await gateway.start();
    const { client: ada } = await client('Ada');
    const { tools } = await ada.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^mcp__a__Do_It_[0-9a-f]{8}$/),
      'mcp__a__echo',
      'mcp__b__echo',
    ]);
    expect(tools[0]).toEqual({ ...raw, name: tools[0]?.name });
    const called = await ada.callTool({ name: String(tools[0]?.name) });
    expect(called.content).toEqual([{ type: 'text', text: expect.stringContaining('Do.It') as string }]);
  });

  it('a result passes unchanged, including _meta and unknown fields', async () => {
    const { gateway, client } = make({ servers: { a: new AskingUpstream().entry() } });
    await gateway.start();
    const { client: ada } = await client('Ada');
    const call = { method: 'tools/call', params: { name: 'mcp__a__raw', arguments: { for: 'Ada' } } };
    expect(await ada.request(call, ResultSchema)).toEqual({
      content: [{ type: 'text', text: 'raw' }],
      structuredContent: { a: 1 },
      _meta: { mark: 'Ada' },
      unknown: { kept: true },
    });
  });

  it('arguments that a model wrote loosely are coerced to the schema of the server', async () => {
    const inputSchema = {
      type: 'object' as const,
      properties: { note: { type: 'string' }, limit: { type: 'integer' } },
    };
    const upstream = new AskingUpstream({ tools: [tool('echo', { inputSchema })] });
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const { client: ada } = await client('Ada');
    const call = (args: unknown): Promise<unknown> =>
      ada.request({ method: 'tools/call', params: { name: 'mcp__a__echo', arguments: args } }, ResultSchema);
    await call({ note: null, limit: '5' });
    await call(null);
    await call('{"limit":1}');
    expect(upstream.of('tools/call').map(({ arguments: given }) => given)).toEqual([
      { limit: 5 },
      {},
      { limit: 1 },
    ]);
  });

  it('the _meta of a request passes, except its progress token', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const { client: ada } = await client('Ada');
    const params = {
      name: 'mcp__a__echo',
      arguments: { x: 1 },
      _meta: { trace: 't', progressToken: 'mine' },
    };
    await ada.request({ method: 'tools/call', params }, ResultSchema);
    const { _meta: meta, ...sent } = upstream.of('tools/call')[0] ?? {};
    expect(sent).toEqual({ name: 'echo', arguments: { x: 1 } });
    expect(meta).toMatchObject({ trace: 't' });
    expect(JSON.stringify(meta)).not.toContain('mine');
    const read = { uri: 'note://one', _meta: { trace: 'u', progressToken: 'mine' } };
    expect(await ada.request({ method: 'resources/read', params: read }, ResultSchema)).toEqual({
      contents: [{ uri: 'note://one', text: 'from 1' }],
      _meta: { raw: true },
    });
    expect(JSON.stringify(upstream.of('resources/read'))).not.toContain('mine');
  });

  it('resources, templates, prompts and completion reach the server that has them', async () => {
    const a = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: a.entry() } });
    await gateway.start();
    const { client: ada } = await client('Ada');
    const { resources } = await ada.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['troupe://status', 'note://one']);
    expect(resources[1]?._meta).toEqual({ mark: 'r' });
    expect((await ada.listResourceTemplates()).resourceTemplates).toEqual([
      { uriTemplate: 'note://{id}/part', name: 'part' },
    ]);
    expect((await ada.listPrompts()).prompts).toEqual([{ name: 'mcp__a__greet' }]);
    expect(await ada.getPrompt({ name: 'mcp__a__greet' })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'greet' } }],
      extra: 1,
    });
    const argument = { name: 'x', value: 'y' };
    const ofPrompt = { ref: { type: 'ref/prompt', name: 'mcp__a__greet' }, argument } as const;
    expect(await ada.complete(ofPrompt)).toEqual({ completion: { values: ['y', 'more'] }, extra: 2 });
    await ada.complete({ ref: { type: 'ref/resource', uri: 'note://{id}/part' }, argument });
    expect(a.of('completion/complete').map(({ ref }) => ref)).toEqual([
      { type: 'ref/prompt', name: 'greet' },
      { type: 'ref/resource', uri: 'note://{id}/part' },
    ]);
    const steps: unknown[] = [];
    await ada.readResource({ uri: 'note://7/part' }, { onprogress: (step) => void steps.push(step) });
    expect(steps).toEqual([{ progress: 1, message: 'reading note://7/part' }]);
    expect(a.of('resources/read')).toHaveLength(1);
  });

  it('a resource of two servers is read from neither, except by a client of one of them', async () => {
    const [a, b] = [new AskingUpstream(), new AskingUpstream()];
    const { gateway, client } = make({ servers: { a: a.entry(), b: b.entry() } });
    await gateway.start();
    const ada = await client('Ada');
    await expect(ada.client.readResource({ uri: 'note://one' })).rejects.toMatchObject({ code: -32_602 });
    const bob = await client('Bob', { server: 'b' });
    await bob.client.readResource({ uri: 'note://one' });
    expect([a, b].map((each) => each.of('resources/read').length)).toEqual([0, 1]);
  });

  it('a resource that no server lists is not found, whatever its servers offer', async () => {
    const plain = new SdkServer({ name: 'plain', version: '1' }, { capabilities: { tools: {} } });
    plain.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [tool('echo')] }));
    const { gateway, client } = make({
      servers: { plain: { type: 'in-process', server: plain }, a: new AskingUpstream().entry() },
    });
    await gateway.start();
    for (const only of [{}, { server: 'plain' }]) {
      const { client: ada } = await client('Ada', only);
      for (const ask of [ada.readResource, ada.subscribeResource]) {
        await expect(ask.call(ada, { uri: 'nobody://has' })).rejects.toMatchObject({
          code: -32_002,
          data: { uri: 'nobody://has' },
        });
      }
    }
  });

  it('a resource without subscriptions can be read, and a subscription to it fails with "method not found"', async () => {
    const plain = new SdkServer({ name: 'plain', version: '1' }, { capabilities: { resources: {} } });
    plain.setRequestHandler(ListResourcesRequestSchema, async () => ({
      resources: [{ uri: 'plain://one', name: 'one' }],
    }));
    plain.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => ({
      contents: [{ uri, text: 'read' }],
    }));
    const { gateway, client } = make({ servers: { plain: { type: 'in-process', server: plain } } });
    await gateway.start();
    const { client: ada } = await client('Ada');
    expect((await ada.readResource({ uri: 'plain://one' })).contents).toMatchObject([{ text: 'read' }]);
    await expect(ada.subscribeResource({ uri: 'plain://one' })).rejects.toMatchObject({
      code: -32_601,
      message: expect.stringContaining('resources/subscribe') as string,
    });
  });

  it('the status is listed once even if a server is itself a gateway', async () => {
    const inner = make({ servers: { a: new AskingUpstream().entry() } });
    await inner.gateway.start();
    const server = { connect: async (transport: Transport) => void (await inner.gateway.connect(transport)) };
    const { gateway, client } = make({ servers: { inner: { type: 'in-process', server } } });
    await gateway.start();
    for (const only of [{}, { server: 'inner' }]) {
      const { client: ada } = await client('Ada', only);
      const { resources } = await ada.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(['troupe://status', 'note://one']);
      const { contents } = await ada.readResource({ uri: 'troupe://status' });
      expect(JSON.stringify(contents)).toContain('inner');
    }
  });

  it('a client of one server sees only that server, with its original names and instructions', async () => {
    const a = new AskingUpstream({ instructions: 'Ask a.' });
    const b = new AskingUpstream({ tools: [tool('ö')], instructions: 'Ask b.' });
    const { gateway, client } = make({ servers: { a: a.entry(), b: b.entry() } });
    await gateway.start();
    const { client: ada } = await client('Ada', { server: 'b' });
    expect(ada.getInstructions()).toBe('Ask b.');
    expect((await ada.listTools()).tools.map(({ name }) => name)).toEqual(['ö']);
    expect((await ada.listPrompts()).prompts.map(({ name }) => name)).toEqual(['greet']);
    await ada.callTool({ name: 'ö' });
    await expect(ada.callTool({ name: 'mcp__a__echo' })).rejects.toMatchObject({ code: -32_602 });
    const { client: bob } = await client('Bob');
    expect(bob.getInstructions()).toBe('# a\n\nAsk a.\n\n# b\n\nAsk b.');
    await expect(client('Eve', { server: 'c' })).rejects.toMatchObject({ code: -32_602 });
  });

  it('a bare gateway renames nothing of its only server, and refuses to start with two', async () => {
    const a = new AskingUpstream({ instructions: 'Ask a.' });
    const { client } = make({ servers: { a: a.entry() }, bare: true });
    const { client: ada } = await client('Ada', { capabilities: ANSWERS_ALL });
    expect(ada.getInstructions()).toBe('Ask a.');
    const { tools } = await ada.listTools();
    expect(tools).toEqual([...a.tools].toSorted((x, y) => (x.name < y.name ? -1 : 1)));
    await ada.callTool({ name: 'echo' });
    await ada.readResource({ uri: 'unlisted://thing' });
    const two = make({ servers: { a: a.entry(), b: a.entry() }, bare: true });
    await expect(two.gateway.start()).rejects.toMatchObject({
      code: 'CONFIG_ERROR',
      message: expect.stringContaining('a, b') as string,
    });
    await expect(two.client('Bob')).rejects.toMatchObject({ code: -32_000 });
  });

  it('a bare gateway adds prefixes while it has a second server, so that no two tools have the same name', async () => {
    const [a, b] = [new AskingUpstream(), new AskingUpstream()];
    const { gateway, client, clock } = make({ servers: { a: a.entry() }, bare: true });
    await gateway.start();
    const { client: ada } = await client('Ada');
    const names = async (): Promise<string[]> => (await ada.listTools()).tools.map(({ name }) => name);
    const before = await names();
    await passTime(clock, gateway.troupe.reload({ a: a.entry(), b: b.entry() }));
    await passTime(clock, gateway.troupe.settled());
    expect(await names()).toEqual(
      ['a', 'b'].flatMap((server) => before.map((name) => `mcp__${server}__${name}`)),
    );
    await ada.callTool({ name: 'mcp__a__echo' });
    await ada.callTool({ name: 'mcp__b__echo' });
    expect([a, b].map((each) => each.of('tools/call').length)).toEqual([1, 1]);
    await passTime(clock, gateway.troupe.reload({ a: a.entry() }));
    expect(await names()).toEqual(before);
  });

  it('an error of a server passes with its code, message and data', async () => {
    const { gateway, client } = make({ servers: { a: new AskingUpstream().entry() } });
    await gateway.start();
    const { client: ada } = await client('Ada');
    await expect(ada.callTool({ name: 'mcp__a__refuse', arguments: { for: 'Ada' } })).rejects.toMatchObject({
      code: -31_999,
      message: expect.stringContaining('not today') as string,
      data: { why: 'Ada' },
    });
  });

  it('a call that its client cancels is cancelled at the server, and a question within it is cancelled at the client', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    const gone = new AbortController();
    const call = ada.call('mcp__a__wait', { for: 'Ada' }, gone.signal);
    await upstream.when(() => upstream.of('tools/call').length === 1);
    gone.abort();
    await expect(call).rejects.toThrow();
    await upstream.when(() => upstream.cancelled.length === 1);
    const asked = createGate<AbortSignal>();
    ada.client.setRequestHandler(ElicitRequestSchema, async (_, { signal }) => {
      asked.open(signal);
      return new Promise<never>(() => {});
    });
    const again = new AbortController();
    const asking = ada.call('mcp__a__ask', { for: 'Ada' }, again.signal);
    const signal = await asked.promise;
    const taken = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    again.abort();
    await expect(asking).rejects.toThrow();
    await taken;
  });

  it('a change of roots reaches only the own connection of the client that announced it', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    await client('Bob', { capabilities: ANSWERS_ALL });
    await ada.client.sendRootsListChanged();
    await upstream.when(() => upstream.of('notifications/roots/list_changed').length > 0);
    await ada.client.ping();
    const methodsByConnection = upstream.connections.map(({ received }) =>
      received.map(({ method }) => method),
    );
    expect(
      methodsByConnection.filter((methods) => methods.includes('notifications/roots/list_changed')),
    ).toHaveLength(1);
  });

  it('servers of a singleClient gateway start when the client connects, with its capabilities', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({ servers: { a: upstream.entry() }, singleClient: true });
    const started = gateway.start();
    await clock.advance(60_000);
    expect(upstream.connections).toHaveLength(0);
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    expect((await passTime(clock, started)).ready).toEqual(['a']);
    expect(JSON.parse(await ada.call('mcp__a__ask', { for: 'Ada', relates: false }))).toMatchObject({
      answer: { content: { name: 'Ada' } },
    });
    expect(upstream.connections.map(({ declared }) => declared)).toEqual([ANSWERS_ALL]);
    await upstream.connections[0]?.server.sendLoggingMessage({ level: 'info', data: 'hello' });
    await ada.whenNotified('notifications/message');
    await expect(client('Bob')).rejects.toMatchObject({ code: 'NOT_READY' });
  });
});
