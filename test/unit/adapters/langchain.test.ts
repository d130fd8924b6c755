import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { tool as makeTool, type StructuredToolInterface } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain';
import { describe, expect, it } from 'vitest';
import { liveTools, toTools } from '../../../src/adapters/langchain.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, text, tool } from '../../support/scripted-server.js';
import { ScriptedChatModel } from '../../support/agents/langchain.js';
import { makeWorld } from '../../support/started-troupe.js';

useLeakCheck();

const NAME = 'mcp__box__echo';

function ownTool(name: string): StructuredToolInterface {
  return makeTool(async () => 'of the host', {
    name,
    description: name,
    schema: { type: 'object', properties: {} },
  });
}

const toolCall = (args: Record<string, unknown> = {}) => ({
  type: 'tool_call' as const,
  id: 'c1',
  name: NAME,
  args,
});

describe('tools for LangChain', () => {
  it('answer a tool call with a message that keeps the untouched result as its artifact.', async () => {
    const result = { ...text('hello'), structuredContent: { a: 1 } };
    const { troupe } = await makeWorld({ on: { 'tools/call': () => result } });
    const [echo] = toTools(troupe);
    const message = (await echo?.invoke(toolCall())) as ToolMessage;
    expect(message).toMatchObject({
      tool_call_id: 'c1',
      name: NAME,
      status: 'success',
      artifact: result,
      metadata: { server: 'box', tool: 'echo' },
    });
    expect(message.text).toMatch(/^<mcp_tool_output server="box"/);
  });

  it('mark an error of the tool in the message, and keep the result.', async () => {
    const result = { ...text('no'), isError: true };
    const { troupe } = await makeWorld({ on: { 'tools/call': () => result } });
    const [echo] = toTools(troupe);
    const message = (await echo?.invoke(toolCall())) as ToolMessage;
    expect(message).toMatchObject({ tool_call_id: 'c1', name: NAME, status: 'error', artifact: result });
    expect(message.text).toMatch(/^MCP error: The tool failed/);
  });

  it('give the content alone where they are invoked with arguments.', async () => {
    const { server, troupe } = await makeWorld();
    const [echo] = toTools(troupe);
    expect(await echo?.invoke({ a: 1 })).toContain('echo {"a":1}');
    server.script = { on: { 'tools/call': () => ({ ...text('no'), isError: true }) } };
    expect(await echo?.invoke({})).toMatch(/^MCP error: /);
  });

  it('tell callbacks of their calls.', async () => {
    const { troupe } = await makeWorld();
    const [echo] = toTools(troupe);
    const told: string[] = [];
    await echo?.invoke(toolCall({ a: 1 }), {
      callbacks: [
        {
          handleToolStart: (_tool, input, _run, _parent, _tags, _metadata, name) => {
            told.push(`start ${name} ${input}`);
          },
          handleToolEnd: (output: ToolMessage) => {
            told.push(`end ${output.status}`);
          },
        },
      ],
    });
    expect(told).toEqual([`start ${NAME} {"a":1}`, 'end success']);
  });

  it('throw the reason of an abort, and what the host throws.', async () => {
    const { server, troupe } = await makeWorld({ on: { 'tools/call': silent } });
    const controller = new AbortController();
    const running = toTools(troupe)[0]?.invoke(toolCall(), { signal: controller.signal });
    await server.whenReceived('tools/call');
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    const confirm = (): boolean => {
      throw new RangeError('a mistake of the host');
    };
    await expect(toTools(troupe, { confirm })[0]?.invoke(toolCall())).rejects.toThrow(RangeError);
    const model = new ScriptedChatModel([() => [{ name: NAME }]]);
    const agent = createAgent({ model, tools: [], middleware: [liveTools(troupe, { confirm })] });
    await expect(agent.invoke({ messages: 'go' })).rejects.toThrow('a mistake of the host');
  });

  it('are not made with a limit that makes no sense.', async () => {
    const { troupe } = await makeWorld();
    expect(() => toTools(troupe, { maxCharacters: 500 })).toThrow(
      "'maxCharacters' must be a number of characters from 1,000",
    );
  });

  it('work as fixed tools of an agent, without the middleware.', async () => {
    const { troupe } = await makeWorld();
    const model = new ScriptedChatModel([() => [{ name: NAME, args: { a: 1 } }]]);
    const { messages } = await createAgent({ model, tools: toTools(troupe) }).invoke({ messages: 'go' });
    expect(
      messages.filter((message) => ToolMessage.isInstance(message)).map((message) => message.text),
    ).toEqual([
      '<mcp_tool_output server="box" tool="echo" trust="untrusted">\necho {"a":1}\n</mcp_tool_output>',
    ]);
  });

  it("stand beside the host's own in a live agent; a tool that was given by name stays what it is.", async () => {
    const { server, troupe } = await makeWorld({ tools: [tool('echo'), tool('other')] });
    const names = ['mine', NAME, 'mcp__box__other', 'invented'];
    const model = new ScriptedChatModel([() => names.map((name) => ({ name }))]);
    const agent = createAgent({
      model,
      tools: [ownTool('mine'), ownTool(NAME)],
      middleware: [liveTools(troupe)],
    });
    await agent.invoke({ messages: 'go' });
    expect(model.seen[0]?.offered.map(({ name }) => name)).toEqual(['mine', NAME, 'mcp__box__other']);
    expect(model.seen[1]?.answers.map(({ text }) => text)).toEqual([
      'of the host',
      'of the host',
      expect.stringContaining('other {}'),
      expect.stringMatching(/^MCP error: There is no such tool, or it is gone\./),
    ]);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('come from several troupes at once.', async () => {
    const [first, second] = [await makeWorld(), await makeWorld({ tools: [tool('other')] })];
    const names = [NAME, 'mcp__box__other', 'mcp__box__invented'];
    const model = new ScriptedChatModel([() => names.map((name) => ({ name }))]);
    const middleware = [liveTools(first.troupe), liveTools(second.troupe, { name: 'second' })];
    await createAgent({ model, tools: [], middleware }).invoke({ messages: 'go' });
    expect(model.seen[0]?.offered.map(({ name }) => name)).toEqual(names.slice(0, 2));
    expect(model.seen[1]?.answers.map(({ text }) => text)).toEqual([
      expect.stringContaining('echo {}'),
      expect.stringContaining('other {}'),
      expect.stringMatching(/^MCP error: There is no such tool/),
    ]);
  });

  it('can be held for a person by the middleware of LangChain.', async () => {
    const { server, troupe } = await makeWorld();
    const model = new ScriptedChatModel([() => [{ name: NAME }]]);
    const interruptOn = Object.fromEntries(
      troupe.tools.filter(({ requiresConfirmation }) => requiresConfirmation).map(({ name }) => [name, true]),
    );
    // Its type does not fit the list of middlewares under exactOptionalPropertyTypes.
    const person = humanInTheLoopMiddleware({ interruptOn } as never) as unknown as AgentMiddleware;
    const agent = createAgent({
      model,
      tools: [],
      checkpointer: new MemorySaver(),
      middleware: [liveTools(troupe), person],
    });
    const state = await agent.invoke({ messages: 'go' }, { configurable: { thread_id: '1' } });
    expect(state).toHaveProperty('__interrupt__');
    expect(AIMessage.isInstance(state.messages.at(-1))).toBe(true);
    expect(server.of('tools/call')).toEqual([]);
  });
});
