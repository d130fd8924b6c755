/**
 * The contract of every adapter whose model searches through Troupe: whatever is said, asked or checked about a call names the
 * tool, and not the tool for calling it.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ServerSettings } from '../../../src/config/entry/server-config.js';
import type { OutgoingCall } from '../../../src/calls/hooks.js';
import type { TroupeOptions } from '../../../src/options.js';
import { createMemoryReviewStore } from '../../../src/review/review-store.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import type { RunOptions, ScriptedAgent, ScriptedCall, SeenStep } from '../../support/agents/agent.js';
import { createMemoryCatalogStore } from '../../../src/catalog/cache-store.js';
import { ScriptedServer, silent, text, tool, type Script } from '../../support/scripted-server.js';
import { fakeProgram, FakeServer } from '../../support/fake-server.js';
import { inProcess, makeTroupe, whenEmits } from '../../support/test-troupe.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

const MANY = Array.from({ length: 60 }, (_, index) => tool(`get_record_${index}`));
const TOOLS = [...MANY, tool('echo'), tool('create_invoice'), tool('pinned_help')];
const SEARCHING = { offer: { mode: 'search' } } as const satisfies RunOptions;
const SEARCH_TOOLS = ['search_tools', 'describe_tool', 'call_tool'];

interface Shop {
  readonly server: ScriptedServer;
  readonly troupe: Troupe;
}

async function openShop(options: TroupeOptions = {}, script: Script = { tools: TOOLS }): Promise<Shop> {
  const server = new ScriptedServer(script);
  const shop = inProcess(server, { tools: { deny: ['*_7'], pinned: ['pinned_*'], group: 'till' } });
  const other = inProcess(new ScriptedServer({ tools: [tool('echo_elsewhere')] }));
  const troupe = createTroupe({ servers: { shop, other }, ...options });
  onTestFinished(() => troupe.close());
  await troupe.start({ signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
  return { server, troupe };
}

const echo = (args: unknown = { a: 1 }): ScriptedCall => ({
  name: 'call_tool',
  args: { name: 'mcp__shop__echo', arguments: args },
});

const answersOf = (seen: readonly SeenStep[], step = 1): string[] =>
  (seen[step]?.answers ?? []).map(({ text }) => text);

/** `endsToAsk`: the loop ends with a request for approval instead of an answer to the model. */
export function describeSearch(agents: readonly (ScriptedAgent & { readonly endsToAsk?: boolean })[]): void {
  describe.each(agents)('$name with a search', (agent) => {
    const run = (
      troupe: Troupe,
      calls: readonly ScriptedCall[],
      options: RunOptions = {},
    ): Promise<readonly SeenStep[]> =>
      agent.run(troupe, [() => calls], { confirm: 'never', ...SEARCHING, ...options });

    it('offers the pinned tools, and three instead of all others', async () => {
      const { troupe } = await openShop();
      const [first] = await run(troupe, []);
      expect(first?.offered.map(({ name }) => name)).toEqual(['mcp__shop__pinned_help', ...SEARCH_TOOLS]);
      const [more] = await run(troupe, [], { offer: { ...SEARCHING.offer, pinned: ['*__echo_*'] } });
      expect(more?.offered.map(({ name }) => name)).toContain('mcp__other__echo_elsewhere');
    });

    it('searches only beyond a number of tokens, if it is automatic', async () => {
      const { troupe } = await openShop();
      const offered = async (maxTokens: number): Promise<number | undefined> =>
        (await run(troupe, [], { offer: { maxTokens } }))[0]?.offered.length;
      expect(await offered(100_000)).toBe(troupe.tools.length);
      expect(await offered(100)).toBe(SEARCH_TOOLS.length + 1);
    });

    it('finds and describes tools within the boundary, and none that the entry denies', async () => {
      const { troupe } = await openShop();
      const seen = await run(troupe, [
        { name: 'search_tools', args: { query: 'invoice' } },
        { name: 'search_tools', args: { query: 'echo', group: 'other' } },
        { name: 'describe_tool', args: { name: 'mcp__shop__echo' } },
        { name: 'search_tools', args: { query: 'record 7', limit: 20 } },
      ]);
      const [invoice = '', elsewhere = '', described = '', denied = ''] = answersOf(seen);
      expect(invoice).toContain('"mcp__shop__create_invoice"');
      expect(invoice).toMatch(/^<mcp_tool_output [^>]*trust="untrusted">/);
      expect(elsewhere).toContain('mcp__other__echo_elsewhere');
      expect(elsewhere).not.toContain('mcp__shop__echo');
      expect(described).toContain('"description":"does echo"');
      expect(denied).not.toContain('get_record_7"');
    });

    it('sends a call under the name of the tool, and hooks and events name the tool', async () => {
      const called: OutgoingCall[] = [];
      const { server, troupe } = await openShop({
        hooks: { beforeCall: (call) => void called.push(call) },
      });
      const events: string[] = [];
      troupe.events$.subscribe((event) => {
        if (event.type === 'call.started') events.push(event.tool);
      });
      const seen = await run(troupe, [echo()]);
      expect(answersOf(seen)[0]).toBe(
        '<mcp_tool_output server="shop" tool="echo" trust="untrusted">\necho {"a":1}\n</mcp_tool_output>',
      );
      expect(server.of('tools/call').map(({ params }) => params['name'])).toEqual(['echo']);
      expect(called.map((call) => [call.server, call.tool])).toEqual([['shop', 'echo']]);
      expect(events).toEqual(['echo']);
    });

    it('asks about the tool itself, and not about a search', async () => {
      const { server, troupe } = await openShop();
      const asked: [name: string, args: unknown][] = [];
      const confirm = (called: { name: string }, args: unknown): boolean => {
        asked.push([called.name, args]);
        return false;
      };
      const search = { name: 'search_tools', args: { query: 'echo' } };
      const seen = await run(troupe, [search, echo()], { confirm });
      expect(asked).toEqual([['mcp__shop__echo', { a: 1 }]]);
      expect(answersOf(seen)[0]).toContain('mcp__shop__echo');
      expect(answersOf(seen)[1]).toMatch(/^MCP error: /);
      expect(server.of('tools/call')).toEqual([]);
    });

    it('does not call a tool that needs a confirmation without asking', async () => {
      const { server, troupe } = await openShop({
        requiresConfirmation: ({ tool: name }) => name === 'echo',
      });
      const unasked = { ...SEARCHING };
      const seen = await agent.run(troupe, [() => [echo()]], unasked);
      expect(server.of('tools/call')).toEqual([]);
      if (agent.endsToAsk === true) expect(seen).toHaveLength(1);
      else expect(answersOf(seen)[0]).toMatch(/^MCP error: .*confirm/);
      const other = { name: 'call_tool', args: { name: 'mcp__shop__create_invoice' } };
      await agent.run(troupe, [() => [other]], unasked);
      expect(server.of('tools/call')).toHaveLength(1);
    });

    it('does not find or call a tool that a review holds back', async () => {
      const store = createMemoryReviewStore();
      const review = { mode: 'hold-changes', store } as const;
      const before = await openShop({ review });
      await before.troupe.review.idle();
      await before.troupe.close();
      const changed = TOOLS.map((each) => (each.name === 'echo' ? tool('echo', { title: 'other' }) : each));
      const { server, troupe } = await openShop({ review }, { tools: changed });
      await troupe.review.idle();
      const seen = await run(troupe, [{ name: 'search_tools', args: { query: 'echo' } }, echo()]);
      expect(answersOf(seen)[0]).not.toContain('mcp__shop__echo');
      expect(answersOf(seen)[1]).toMatch(/^MCP error: .*accept/);
      expect(server.of('tools/call')).toEqual([]);
    });

    it('answers arguments that do not fit, and an unknown tool, with an error', async () => {
      const { server, troupe } = await openShop();
      const seen = await run(troupe, [
        { name: 'search_tools', args: {} },
        { name: 'search_tools', args: { query: 'echo', group: 'nowhere' } },
        { name: 'describe_tool', args: { name: 'nothing' } },
        { name: 'call_tool', args: { arguments: {} } },
        { name: 'call_tool', args: { name: 'mcp__shop__nothing' } },
        echo([]),
      ]);
      for (const answer of answersOf(seen)) expect(answer).toMatch(/^MCP error: /);
      expect(answersOf(seen)).toHaveLength(6);
      expect(server.of('tools/call')).toEqual([]);
    });

    it('gives way to a tool of a server that has the same name', async () => {
      const tools = [...MANY, tool('echo'), tool('call_tool')];
      const { server, troupe } = await openShop({ naming: '{tool}' }, { tools });
      const [first] = await run(troupe, []);
      expect(first?.offered.map(({ name }) => name)).toEqual(['search_tools', 'describe_tool', 'call_tool_']);
      await run(troupe, [{ name: 'call_tool_', args: { name: 'call_tool' } }]);
      expect(server.of('tools/call').map(({ params }) => params['name'])).toEqual(['call_tool']);
    });

    it.each([
      ['a read-only tool once', { readOnlyHint: true }, 2],
      [
        'an idempotent tool once, even if it is destructive',
        { destructiveHint: true, idempotentHint: true },
        2,
      ],
      ['no other tool: its outcome is unknown', { readOnlyHint: false }, 1],
    ])('repeats %s when the server is lost during a call', async (_, annotations, calls) => {
      const { server, troupe } = await openShop(
        {},
        {
          tools: [...TOOLS, tool('act', { annotations })],
          on: { 'tools/call': (__, { session }) => (session === 1 ? silent({}, {} as never) : text('done')) },
        },
      );
      const outcomes: string[][] = [];
      troupe.events$.subscribe((event) => {
        if (event.type === 'call.finished') outcomes.push([event.tool, event.outcome]);
      });
      const running = run(troupe, [{ name: 'call_tool', args: { name: 'mcp__shop__act' } }]);
      await server.whenReceived('tools/call');
      await server.die();
      const [answer] = answersOf(await running);
      expect(server.of('tools/call').map(({ params }) => params['name'])).toEqual(Array(calls).fill('act'));
      expect(outcomes.at(-1)).toEqual(['act', calls === 2 ? 'answered' : 'outcome-unknown']);
      if (calls === 2) expect(answer).toMatch(/^<mcp_tool_output server="shop" tool="act" .*\ndone\n/);
      else expect(answer).toMatch(/^MCP error: /);
    });

    it('finds the tools of servers that sleep, and starts one with the call of its tool', async () => {
      const cache = createMemoryCatalogStore();
      const shop = new FakeServer(undefined, { tools: TOOLS });
      const house = new FakeServer(undefined, { tools: [tool('open_door')] });
      const started = async (settings: ServerSettings): Promise<Troupe> => {
        const servers = { shop: fakeProgram(shop, settings), house: fakeProgram(house, settings) };
        const made = makeTroupe({ servers, cache });
        onTestFinished(() => made.close());
        await made.start({ signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
        return made;
      };
      await (await started({})).close();
      for (const { transports } of [shop, house]) transports.splice(0);
      const troupe = await started({ start: 'lazy' });
      const seen = await run(troupe, [
        { name: 'search_tools', args: { query: 'invoice' } },
        { name: 'describe_tool', args: { name: 'mcp__house__open_door' } },
      ]);
      expect(answersOf(seen)[0]).toContain('"mcp__shop__create_invoice"');
      expect(answersOf(seen)[1]).toContain('does open_door');
      expect([shop.transports.length, house.transports.length]).toEqual([0, 0]);
      await run(troupe, [echo()]);
      expect(shop.peer.of('tools/call')).toHaveLength(1);
      expect([shop.transports.length, house.transports.length]).toEqual([1, 0]);
    });

    it('offers all tools or the search, as the tools of a server and its pinned ones change', async () => {
      const { server, troupe } = await openShop({}, { tools: [tool('echo'), tool('pinned_help')] });
      const offered = async (): Promise<(string | undefined)[]> =>
        (await run(troupe, [], { offer: { maxTokens: 1_000 } }))[0]?.offered.map(({ name }) => name) ?? [];
      const all = troupe.tools.map(({ name }) => name);
      const become = async (tools: Script['tools'] & object): Promise<void> => {
        const changed = whenEmits(troupe.events$, ({ type }) => type === 'catalog.changed');
        server.changeTools(tools);
        await changed;
      };
      expect(await offered()).toEqual(all);
      await become(TOOLS);
      expect(await offered()).toEqual(['mcp__shop__pinned_help', ...SEARCH_TOOLS]);
      await troupe.reload({ shop: inProcess(server, { tools: { pinned: ['echo'] } }) });
      expect(await offered()).toEqual(['mcp__shop__echo', ...SEARCH_TOOLS]);
      expect(server.sessions).toBe(1);
      await become([tool('echo')]);
      expect(await offered()).toEqual(['mcp__shop__echo']);
    });
  });
}
