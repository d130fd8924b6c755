/** A gateway that offers tools to search for the servers' tools. */
import { ResultSchema, type CallToolResult, type Tool } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { textOf, useGateways, type TestClient, type TestGateway } from '../../support/gateway-rig.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { createMemoryReviewStore } from '../../../src/review/review-store.js';
import { ScriptedServer, silent, text, tool } from '../../support/scripted-server.js';
import { inProcess, passTime } from '../../support/test-troupe.js';

const MANY = Array.from({ length: 300 }, (_, index) => tool(`get_record_${index}`));
const INVOICE: Tool = tool('makeInvoice', { description: 'Bills a customer.' });
const TICKET: Tool = {
  ...tool('open_ticket', { description: 'Opens a ticket.' }),
  inputSchema: { type: 'object', properties: { urgency: { type: 'string', description: 'How soon.' } } },
};

const SEARCH_TOOLS = ['search_tools', 'describe_tool', 'call_tool'];
const LIST_CHANGED = 'notifications/tools/list_changed';

const named = async ({ client }: TestClient): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

describe('Tool search', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  async function searched(
    upstream = new AskingUpstream({ tools: [...MANY, INVOICE, TICKET, tool('echo')] }),
  ): Promise<TestClient & Pick<TestGateway, 'clock'>> {
    const { gateway, client, clock } = make({ servers: { shop: upstream.entry() }, offer: 'search' });
    await gateway.start();
    return { ...(await client('Ada')), clock };
  }

  async function found(ada: TestClient, args: Record<string, unknown>): Promise<string[]> {
    const { tools } = JSON.parse(await ada.call('search_tools', args)) as { tools: Tool[] };
    return tools.map(({ name }) => name);
  }

  it('lists three tools instead of hundreds', async () => {
    const ada = await searched();
    const { tools } = await ada.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tool', 'call_tool']);
  });

  it.each([
    ['a word of the name', 'invoice', 'mcp__shop__makeInvoice'],
    ['a word of the description', 'customer', 'mcp__shop__makeInvoice'],
    ['a parameter', 'urgency', 'mcp__shop__open_ticket'],
    ['a mistyped word', 'invioce', 'mcp__shop__makeInvoice'],
    ['the beginning of a word', 'tick', 'mcp__shop__open_ticket'],
  ])('finds a tool by %s', async (_, query, name) => {
    const ada = await searched();
    expect((await found(ada, { query }))[0]).toBe(name);
  });

  it('gives at most the requested number of tools, and never more than twenty', async () => {
    const ada = await searched();
    expect(await found(ada, { query: 'record' })).toHaveLength(5);
    expect(await found(ada, { query: 'record', limit: 2 })).toHaveLength(2);
    expect(await found(ada, { query: 'record', limit: 100 })).toHaveLength(20);
    expect(await found(ada, { query: 'zzzzzz' })).toEqual([]);
  });

  it('describes a tool, and calls it under its name', async () => {
    const upstream = new AskingUpstream();
    const ada = await searched(upstream);
    const described = JSON.parse(await ada.call('describe_tool', { name: 'mcp__shop__echo' })) as Tool;
    expect(described.name).toBe('mcp__shop__echo');
    await ada.call('call_tool', { name: 'mcp__shop__echo', arguments: { x: 1 } });
    await ada.call('call_tool', { name: 'mcp__shop__echo', arguments: '{"x":2}' });
    await ada.call('mcp__shop__echo', { x: 3 });
    expect(upstream.of('tools/call')).toMatchObject([
      { name: 'echo', arguments: { x: 1 } },
      { name: 'echo', arguments: { x: 2 } },
      { name: 'echo', arguments: { x: 3 } },
    ]);
  });

  it('passes on the result of a tool unchanged', async () => {
    const ada = await searched(new AskingUpstream());
    const params = { name: 'call_tool', arguments: { name: 'mcp__shop__raw', arguments: { for: 'Ada' } } };
    expect(await ada.client.request({ method: 'tools/call', params }, ResultSchema)).toMatchObject({
      structuredContent: { a: 1 },
      _meta: { mark: 'Ada' },
    });
  });

  it('refuses a name that is not a tool, and arguments of the wrong kind', async () => {
    const ada = await searched();
    const wrong: [string, Record<string, unknown>][] = [
      ['search_tools', {}],
      ['search_tools', { query: 'record', limit: 'many' }],
      ['describe_tool', { name: 'mcp__shop__nothing' }],
      ['call_tool', { name: 'mcp__shop__nothing' }],
      ['call_tool', { name: 'mcp__shop__echo', arguments: [] }],
    ];
    for (const [name, args] of wrong)
      await expect(ada.call(name, args)).rejects.toMatchObject({ code: -32_602 });
  });

  it('gives way to a tool of a server that has the same name', async () => {
    const upstream = new AskingUpstream({ tools: [tool('call_tool')] });
    const { gateway, client } = make({ servers: { shop: upstream.entry() }, offer: 'search', bare: true });
    await gateway.start();
    const ada = await client('Ada');
    const { tools } = await ada.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tool', 'call_tool_']);
    const answer = (await ada.client.callTool({ name: 'call_tool' })) as CallToolResult;
    expect(textOf(answer)).toContain('call_tool');
  });

  it('offers pinned tools as well, and searches in groups', async () => {
    const upstream = new AskingUpstream({ tools: [INVOICE, TICKET, tool('echo')] });
    const other = new AskingUpstream({ tools: [tool('open_door')] });
    const { gateway, client } = make({
      servers: {
        shop: { ...upstream.entry(), tools: { pinned: ['open_*'], group: 'till' } },
        house: other.entry(),
      },
      offer: { mode: 'search', pinned: ['*__echo'] },
    });
    await gateway.start();
    const ada = await client('Ada');
    const { tools } = await ada.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'mcp__shop__echo',
      'mcp__shop__open_ticket',
      'search_tools',
      'describe_tool',
      'call_tool',
    ]);
    expect(await found(ada, { query: 'open' })).toHaveLength(2);
    expect(await found(ada, { query: 'open', group: 'till' })).toEqual(['mcp__shop__open_ticket']);
    await expect(ada.call('search_tools', { query: 'open', group: 'shop' })).rejects.toMatchObject({
      code: -32_602,
    });
  });

  it('searches only beyond its number of tokens, if it is automatic', async () => {
    for (const [maxTokens, expected] of [
      [100_000, 303],
      [1_000, 3],
    ] as const) {
      const upstream = new AskingUpstream({ tools: [...MANY, INVOICE, TICKET, tool('echo')] });
      const { gateway, client } = make({ servers: { shop: upstream.entry() }, offer: { maxTokens } });
      await gateway.start();
      const ada = await client('Ada');
      expect((await ada.client.listTools()).tools).toHaveLength(expected);
    }
  });

  it('finds the tools that a server adds later', async () => {
    const upstream = new AskingUpstream({ tools: [tool('echo')] });
    const ada = await searched(upstream);
    expect(await found(ada, { query: 'invoice' })).toEqual([]);
    upstream.tools = [tool('echo'), INVOICE];
    await upstream.connections[0]?.server.sendToolListChanged();
    await passTime(ada.clock, ada.whenNotified('notifications/tools/list_changed'));
    expect(await found(ada, { query: 'invoice' })).toEqual(['mcp__shop__makeInvoice']);
  });

  it.each([
    ['repeats a read-only tool once', { readOnlyHint: true }, 2],
    [
      'repeats an idempotent tool once, even if it is destructive',
      { destructiveHint: true, idempotentHint: true },
      2,
    ],
    ['repeats no other tool: its outcome is unknown', { readOnlyHint: false }, 1],
  ])('%s when the server is lost during a call', async (_, annotations, calls) => {
    const server = new ScriptedServer({
      tools: [tool('act', { annotations })],
      on: { 'tools/call': (__, { session }) => (session === 1 ? silent({}, {} as never) : text('done')) },
    });
    const { gateway, client, clock } = make({ servers: { shop: inProcess(server) }, offer: 'search' });
    await gateway.start();
    const ada = await client('Ada');
    const outcomes: string[][] = [];
    gateway.troupe.events$.subscribe((event) => {
      if (event.type === 'call.finished') outcomes.push([event.tool, event.outcome]);
    });
    const calling = ada.client.callTool({ name: 'call_tool', arguments: { name: 'mcp__shop__act' } });
    await server.whenReceived('tools/call');
    await server.die();
    const answer = await passTime(clock, calling);
    expect(server.of('tools/call').map(({ params }) => params['name'])).toEqual(Array(calls).fill('act'));
    expect(outcomes.at(-1)).toEqual(['act', calls === 2 ? 'answered' : 'outcome-unknown']);
    if (calls === 2) expect(textOf(answer as CallToolResult)).toBe('done');
    else
      expect(answer).toMatchObject({
        isError: true,
        _meta: { 'mcp-troupe/error': { code: 'OUTCOME_UNKNOWN' } },
      });
  });

  it('finds and calls neither a tool that its entry denies nor one that a review holds back', async () => {
    const review = { mode: 'hold-changes', store: createMemoryReviewStore() } as const;
    const begin = async (server: ScriptedServer): Promise<TestClient & Pick<TestGateway, 'gateway'>> => {
      const servers = { shop: inProcess(server, { tools: { deny: ['secret_*'] } }) };
      const { gateway, client } = make({ servers, review, offer: 'search' });
      await gateway.start();
      await gateway.troupe.review.idle();
      return { gateway, ...(await client('Ada')) };
    };
    const tools = [tool('open_door'), tool('secret_door'), tool('echo')];
    const before = await begin(new ScriptedServer({ tools }));
    expect(await found(before, { query: 'door' })).toEqual(['mcp__shop__open_door']);
    await before.gateway.close();
    const server = new ScriptedServer({ tools: [tool('open_door', { title: 'other' }), ...tools.slice(1)] });
    const ada = await begin(server);
    expect(await found(ada, { query: 'door' })).toEqual([]);
    for (const name of ['open_door', 'secret_door'])
      await ada.client
        .callTool({ name: 'call_tool', arguments: { name: `mcp__shop__${name}` } })
        .catch(() => undefined);
    expect(server.of('tools/call')).toEqual([]);
  });

  it('switches between all tools and the search as the tools of a server change, and notifies its clients', async () => {
    const upstream = new AskingUpstream({ tools: [tool('echo')] });
    const { gateway, client, clock } = make({
      servers: { shop: upstream.entry() },
      offer: { maxTokens: 1_000 },
    });
    await gateway.start();
    const ada = await client('Ada');
    expect(await named(ada)).toEqual(['mcp__shop__echo']);
    const become = async (tools: readonly Tool[], times: number): Promise<string[]> => {
      upstream.tools = tools;
      await upstream.connections[0]?.server.sendToolListChanged();
      await passTime(clock, ada.whenNotified(LIST_CHANGED, times));
      return named(ada);
    };
    expect(await become([tool('echo'), ...MANY], 1)).toEqual(SEARCH_TOOLS);
    expect(await become([tool('echo')], 2)).toEqual(['mcp__shop__echo']);
  });

  it('notifies its clients if a reload pins or groups tools, and keeps their servers running', async () => {
    const upstream = new AskingUpstream({ tools: [INVOICE, TICKET] });
    const other = new AskingUpstream({ tools: [tool('open_door')] });
    const { gateway, client, clock } = make({
      servers: { shop: upstream.entry(), house: other.entry() },
      offer: 'search',
    });
    await gateway.start();
    const ada = await client('Ada');
    const groups = async (): Promise<unknown> => {
      const { tools } = await ada.client.listTools();
      const search = tools.find(({ name }) => name === 'search_tools');
      return (search?.inputSchema.properties?.['group'] as { enum: string[] } | undefined)?.enum;
    };
    expect([await named(ada), await groups()]).toEqual([SEARCH_TOOLS, ['house', 'shop']]);
    const reloaded = async (tools: object, times: number): Promise<void> => {
      await passTime(clock, gateway.troupe.reload({ shop: upstream.entry({ tools }), house: other.entry() }));
      await passTime(clock, ada.whenNotified(LIST_CHANGED, times));
    };
    await reloaded({ pinned: ['open_*'] }, 1);
    expect(await named(ada)).toEqual(['mcp__shop__open_ticket', ...SEARCH_TOOLS]);
    await reloaded({ pinned: ['open_*'], group: 'till' }, 2);
    expect(await groups()).toEqual(['house', 'till']);
    await reloaded({}, 3);
    expect([await named(ada), await groups()]).toEqual([SEARCH_TOOLS, ['house', 'shop']]);
    expect([upstream.connections.length, other.connections.length]).toEqual([1, 1]);
  });
});
