/** Tools that a model finds with the search of its provider or framework. */
import { generateText, stepCountIs } from 'ai';
import { onTestFinished, describe, expect, it } from 'vitest';
import { toTools as toAiTools } from '../../../src/adapters/ai-sdk.js';
import { toTools as toMessagesTools } from '../../../src/adapters/anthropic.js';
import { liveTools, toTools as toLangChainTools } from '../../../src/adapters/langchain.js';
import { toChatTools, toResponsesTools } from '../../../src/adapters/openai.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { scriptedModel } from '../../support/agents/ai-sdk.js';
import type { SeenStep } from '../../support/agents/agent.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess } from '../../support/test-troupe.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

useLeakCheck();

const TOOLS = ['echo', 'create_invoice', 'help'].map((name) => tool(name));

async function openShop(): Promise<{ troupe: Troupe; server: ScriptedServer }> {
  const server = new ScriptedServer({ tools: TOOLS });
  const till = inProcess(server, { tools: { pinned: ['help'], group: 'the till' } });
  const troupe = createTroupe({ servers: { till } });
  onTestFinished(() => troupe.close());
  await troupe.start({ signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
  return { troupe, server };
}

describe('Deferred tools', () => {
  it("are marked for Anthropic's search, and pinned ones are not.", async () => {
    const { troupe } = await openShop();
    expect(toMessagesTools(troupe, { offer: 'search' })).toMatchObject([
      { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
      { name: 'mcp__till__help' },
      { name: 'mcp__till__create_invoice', defer_loading: true },
      { name: 'mcp__till__echo', defer_loading: true },
    ]);
    expect(toMessagesTools(troupe, { offer: 'search' })[1]).not.toHaveProperty('defer_loading');
    expect(toMessagesTools(troupe, { offer: 'auto' })).toEqual(toMessagesTools(troupe));
  });

  it('are in namespaces of their groups for the Responses API.', async () => {
    const { troupe } = await openShop();
    expect(toResponsesTools(troupe, { offer: 'search' })).toMatchObject([
      { type: 'tool_search' },
      { type: 'function', name: 'mcp__till__help' },
      {
        type: 'namespace',
        name: 'the_till',
        tools: [
          { name: 'mcp__till__create_invoice', defer_loading: true },
          { name: 'mcp__till__echo', defer_loading: true },
        ],
      },
    ]);
  });

  it("are marked for LangChain's middleware on request.", async () => {
    const { troupe } = await openShop();
    const offer = { mode: 'search', search: 'provider' } as const;
    const marks = toLangChainTools(troupe, { offer }).map(({ name, extras }) => [name, extras]);
    expect(marks).toEqual([
      ['mcp__till__help', undefined],
      ['mcp__till__create_invoice', { defer_loading: true }],
      ['mcp__till__echo', { defer_loading: true }],
    ]);
    expect(toLangChainTools(troupe, { offer: 'search' }).map(({ name }) => name)).toContain('call_tool');
  });

  it("are found by Troupe's search in version 7 of the AI SDK, and then called under their names.", async () => {
    const { troupe, server } = await openShop();
    const seen: SeenStep[] = [];
    const asked: string[] = [];
    const confirm = ({ name }: { name: string }): boolean => asked.push(name) > 0;
    const steps = [
      () => [{ name: 'search_tools', args: { query: 'invoices' } }],
      () => [{ name: 'mcp__till__create_invoice' }],
    ];
    await generateText({
      model: scriptedModel(steps, seen),
      prompt: 'go',
      tools: toAiTools(troupe, { offer: 'search', confirm }),
      stopWhen: stepCountIs(steps.length + 1),
      maxRetries: 0,
    });
    const offered = seen.map((step) => step.offered.map(({ name }) => name));
    expect(offered).toEqual([
      ['mcp__till__help', 'search_tools'],
      ['mcp__till__help', 'search_tools', 'mcp__till__create_invoice'],
      ['mcp__till__help', 'search_tools', 'mcp__till__create_invoice'],
    ]);
    expect(asked).toEqual(['mcp__till__create_invoice']);
    expect(server.of('tools/call').map(({ params }) => params['name'])).toEqual(['create_invoice']);
  });

  it('are refused with a clear error if the offer has no such option.', async () => {
    const { troupe } = await openShop();
    const wrong = { mode: 'some' } as never;
    for (const offer of [wrong, 'some' as never, { maxTokens: -1 } as never, { search: 'nobody' } as never]) {
      for (const make of [
        toAiTools,
        toMessagesTools,
        toLangChainTools,
        toChatTools,
        toResponsesTools,
        liveTools,
      ])
        expect(() => make(troupe, { offer })).toThrow(TypeError);
    }
  });
});
