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
  return makeTool(async () => 'host tool', {
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
  it('answer a tool call with a message that keeps the complete result as its artifact.', async () => {
    const result = { ...text('hello'), structuredContent: { a: 1 } };
    const { troupe } = await makeWorld({ on: { 'tools/call': () => result } });
    const [echo] = toTools(troupe, { confirm: 'never' });
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
    const [echo] = toTools(troupe, { confirm: 'never' });
    const message = (await echo?.invoke(toolCall())) as ToolMessage;
    expect(message).toMatchObject({ tool_call_id: 'c1', name: NAME, status: 'error', artifact: result });
    expect(message.text).toMatch(/^MCP error: .*failed/);
  });

  it('return only the content if they are invoked with arguments.', async () => {
    const { server, troupe } = await makeWorld();
    const [echo] = toTools(troupe, { confirm: 'never' });
    expect(await echo?.invoke({ a: 1 })).toContain('echo {"a":1}');
    server.script = { on: { 'tools/call': () => ({ ...text('no'), isError: true }) } };
    expect(await echo?.invoke({})).toMatch(/^MCP error: /);
  });

  it('report their calls to callbacks.', async () => {
    const { troupe } = await makeWorld();
    const [echo] = toTools(troupe, { confirm: 'never' });
    const reported: string[] = [];
    await echo?.invoke(toolCall({ a: 1 }), {
      callbacks: [
        {
          handleToolStart: (_tool, input, _run, _parent, _tags, _metadata, name) => {
            reported.push(`start ${name} ${input}`);
          },
          handleToolEnd: (output: ToolMessage) => {
            reported.push(`end ${output.status}`);
          },
        },
      ],
    });
    expect(reported).toEqual([`start ${NAME} {"a":1}`, 'end success']);
  });

  it('throw the reason of an abort, and errors of the host.', async () => {
    const { server, troupe } = await makeWorld({ on: { 'tools/call': silent } });
    const controller = new AbortController();
    const running = toTools(troupe, { confirm: 'never' })[0]?.invoke(toolCall(), {
      signal: controller.signal,
    });
    await server.whenReceived('tools/call');
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    const confirm = (): boolean => {
      throw new RangeError('host error');
    };
    await expect(toTools(troupe, { confirm })[0]?.invoke(toolCall())).rejects.toThrow(RangeError);
    const model = new ScriptedChatModel([() => [{ name: NAME }]]);
    const agent = createAgent({ model, tools: [], middleware: [liveTools(troupe, { confirm })] });
    await expect(agent.invoke({ messages: 'go' })).rejects.toThrow('host error');
  });

  it('cannot be created with an invalid limit.', async () => {
    const { troupe } = await makeWorld();
    expect(() => toTools(troupe, { maxCharacters: 500 })).toThrow("'maxCharacters'");
  });

  it('work as fixed tools of an agent, without the middleware.', async () => {
    const { troupe } = await makeWorld();
    const model = new ScriptedChatModel([() => [{ name: NAME, args: { a: 1 } }]]);
    const { messages } = await createAgent({ model, tools: toTools(troupe, { confirm: 'never' }) }).invoke({
      messages: 'go',
    });
    expect(
      messages.filter((message) => ToolMessage.isInstance(message)).map((message) => message.text),
    ).toEqual([
      '<mcp_tool_output server="box" tool="echo" trust="untrusted">\necho {"a":1}\n</mcp_tool_output>',
    ]);
  });

  it("complement the host's own tools in a live agent; a tool given by name is not replaced.", async () => {
    const { server, troupe } = await makeWorld({ tools: [tool('echo'), tool('other')] });
    const names = ['mine', NAME, 'mcp__box__other', 'invented'];
    const model = new ScriptedChatModel([() => names.map((name) => ({ name }))]);
    const agent = createAgent({
      model,
      tools: [ownTool('mine'), ownTool(NAME)],
      middleware: [liveTools(troupe, { confirm: 'never' })],
    });
    await agent.invoke({ messages: 'go' });
    expect(model.seen[0]?.offered.map(({ name }) => name)).toEqual(['mine', NAME, 'mcp__box__other']);
    expect(model.seen[1]?.answers.map((answer) => answer.text)).toEqual([
      'host tool',
      'host tool',
      expect.stringContaining('other {}'),
      expect.stringMatching(/^MCP error: .*no such tool/),
    ]);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('can come from several troupes at once.', async () => {
    const [first, second] = [await makeWorld(), await makeWorld({ tools: [tool('other')] })];
    const names = [NAME, 'mcp__box__other', 'mcp__box__invented'];
    const model = new ScriptedChatModel([() => names.map((name) => ({ name }))]);
    const middleware = [
      liveTools(first.troupe, { confirm: 'never' }),
      liveTools(second.troupe, { name: 'second', confirm: 'never' }),
    ];
    await createAgent({ model, tools: [], middleware }).invoke({ messages: 'go' });
    expect(model.seen[0]?.offered.map(({ name }) => name)).toEqual(names.slice(0, 2));
    expect(model.seen[1]?.answers.map((answer) => answer.text)).toEqual([
      expect.stringContaining('echo {}'),
      expect.stringContaining('other {}'),
      expect.stringMatching(/^MCP error: .*no such tool/),
    ]);
  });

  it('can be held for a person by the middleware of LangChain.', async () => {
    const { server, troupe } = await makeWorld();
    const model = new ScriptedChatModel([() => [{ name: NAME }]]);
    const interruptOn = Object.fromEntries(
      troupe.tools
        .filter(({ requiresConfirmation }) => requiresConfirmation !== false)
        .map(({ name }) => [name, true]),
    );
    // Its type does not match the list of middlewares under exactOptionalPropertyTypes.
    const person = humanInTheLoopMiddleware({ interruptOn } as never) as unknown as AgentMiddleware;
    const agent = createAgent({
      model,
      tools: [],
      checkpointer: new MemorySaver(),
      middleware: [liveTools(troupe, { confirm: 'never' }), person],
    });
    const state = await agent.invoke({ messages: 'go' }, { configurable: { thread_id: '1' } });
    expect(state).toHaveProperty('__interrupt__');
    expect(AIMessage.isInstance(state.messages.at(-1))).toBe(true);
    expect(server.of('tools/call')).toEqual([]);
  });
});
