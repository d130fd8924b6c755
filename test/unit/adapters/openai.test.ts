import { describe, expect, it } from 'vitest';
import {
  runChatToolCalls,
  runResponsesToolCalls,
  toChatTools,
  toResponsesTools,
} from '../../../src/adapters/openai.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { text, tool } from '../../support/scripted-server.js';
import { makeWorld, PDF } from '../../support/started-troupe.js';

useLeakCheck();

const NAME = 'mcp__box__echo';
const chatCall = (id: string, args: string, name = NAME) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const item = (call_id: string, args: string, name = NAME) => ({
  type: 'function_call',
  call_id,
  name,
  arguments: args,
});

describe('tools for OpenAI', () => {
  it('are defined for both APIs, without strict mode.', async () => {
    const { troupe } = await makeWorld({
      tools: [{ name: 'echo', title: 'Echo', inputSchema: { type: 'object' } }],
    });
    const definition = {
      name: NAME,
      description: 'Echo',
      parameters: { type: 'object', properties: {} },
      strict: false,
    };
    expect(toChatTools(troupe)).toEqual([{ type: 'function', function: definition }]);
    expect(toResponsesTools(troupe)).toEqual([{ type: 'function', ...definition }]);
  });

  it('answer calls whose arguments are invalid JSON, not an object, or missing.', async () => {
    const { server, troupe } = await makeWorld();
    const written = ['{"a":', '\u{1f600}', '[1]', '"text"', 'null', '', '  ', '{}'];
    const chat = await runChatToolCalls(
      troupe,
      written.map((args, at) => chatCall(`c${at}`, args)),
      { confirm: 'never' },
    );
    const output = await runResponsesToolCalls(
      troupe,
      written.map((args, at) => item(`c${at}`, args)),
      { confirm: 'never' },
    );
    const starts = [
      'MCP error: The arguments are not JSON',
      'MCP error: The arguments are not JSON',
      'MCP error: The arguments do not fit',
      'MCP error: The arguments do not fit',
      '<mcp_tool_output',
      '<mcp_tool_output',
      '<mcp_tool_output',
      '<mcp_tool_output',
    ];
    for (const [at, start] of starts.entries()) {
      expect(chat[at]?.content.startsWith(start), written[at]).toBe(true);
      expect(output[at]?.output, written[at]).toBe(chat[at]?.content);
    }
    expect(chat.map((message) => message.tool_call_id)).toEqual(written.map((_, at) => `c${at}`));
    expect(output.map(({ call_id }) => call_id)).toEqual(written.map((_, at) => `c${at}`));
    expect(server.of('tools/call')).toHaveLength(8);
    expect(chat.every(({ content }) => content.isWellFormed())).toBe(true);
  });

  it('answer a call of a tool that the model made up.', async () => {
    const { troupe } = await makeWorld();
    const [answer] = await runChatToolCalls(troupe, [chatCall('c', '{}', 'mcp__box__invented')], {
      confirm: 'never',
    });
    expect(answer?.content).toMatch(/^MCP error: .*no such tool/);
    expect(answer?.content).toContain("'mcp__box__invented'");
  });

  it('skip items that are not function calls.', async () => {
    const { server, troupe } = await makeWorld();
    const custom = { id: 'x', type: 'custom', custom: { name: 'grep', input: 'a' } };
    expect(await runChatToolCalls(troupe, [custom], { confirm: 'never' })).toEqual([]);
    expect(await runChatToolCalls(troupe, undefined, { confirm: 'never' })).toEqual([]);
    expect(await runChatToolCalls(troupe, null, { confirm: 'never' })).toEqual([]);
    const items = [
      { type: 'message' },
      { type: 'custom_tool_call', call_id: 'x', name: NAME },
      { type: 'mcp_call', name: NAME },
    ];
    expect(await runResponsesToolCalls(troupe, items, { confirm: 'never' })).toEqual([]);
    expect(server.of('tools/call')).toEqual([]);
  });

  it('pass on a PDF as a file in a response, and mention it in a chat message.', async () => {
    const content = [
      { type: 'resource', resource: { uri: 'file:///a.pdf', blob: PDF, mimeType: 'application/pdf' } },
    ];
    const { troupe } = await makeWorld({ on: { 'tools/call': () => ({ content }) } });
    const [output] = await runResponsesToolCalls(troupe, [item('c', '{}')], { confirm: 'never' });
    expect(output?.output).toMatchObject([
      { type: 'input_text', text: expect.stringContaining('file:///a.pdf') },
      { type: 'input_file', filename: 'result.pdf', file_data: `data:application/pdf;base64,${PDF}` },
    ]);
    const [message] = await runChatToolCalls(troupe, [chatCall('c', '{}')], { confirm: 'never' });
    expect(message?.content).toMatch(/1 file; 15 bytes/);
  });

  it('throw an error of the host once every other call is finished.', async () => {
    let over = 0;
    let resolveThrown = (): void => {};
    const thrown = new Promise<void>((resolve) => (resolveThrown = resolve));
    const { troupe } = await makeWorld({
      tools: [tool('echo'), tool('slow')],
      on: {
        'tools/call': async () => {
          await thrown;
          await new Promise((resolve) => setImmediate(resolve));
          over += 1;
          return text('done');
        },
      },
    });
    const confirm = ({ name }: { name: string }): boolean => {
      if (name !== NAME) return true;
      resolveThrown();
      throw new RangeError('host error');
    };
    const calls = [chatCall('a', '{}'), chatCall('b', '{}', 'mcp__box__slow')];
    await expect(runChatToolCalls(troupe, calls, { confirm })).rejects.toThrow(RangeError);
    expect(over).toBe(1);
  });
});
