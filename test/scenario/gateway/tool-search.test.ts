/** A gateway that offers tools to search for the servers' tools. */
import { ResultSchema, type CallToolResult, type Tool } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { textOf, useGateways, type TestClient, type TestGateway } from '../../support/gateway-rig.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { passTime } from '../../support/test-troupe.js';

const MANY = Array.from({ length: 300 }, (_, index) => tool(`get_record_${index}`));
const INVOICE: Tool = tool('makeInvoice', { description: 'Bills a customer.' });
const TICKET: Tool = {
  ...tool('open_ticket', { description: 'Opens a ticket.' }),
  inputSchema: { type: 'object', properties: { urgency: { type: 'string', description: 'How soon.' } } },
};

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
});
