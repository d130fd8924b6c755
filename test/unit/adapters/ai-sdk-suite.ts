/** The tests of the adapter for the AI SDK. The test files choose its version. */
import {
  convertToModelMessages,
  dynamicTool,
  generateText,
  jsonSchema,
  stepCountIs,
  streamText,
  ToolLoopAgent,
  type ModelMessage,
  type ToolExecutionOptions,
  type ToolSet,
} from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { toTools, type ToolAnswer } from '../../../src/adapters/ai-sdk.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, text, tool } from '../../support/scripted-server.js';
import { whenEmits } from '../../support/test-troupe.js';
import { scriptedModel, USAGE } from '../../support/agents/ai-sdk.js';
import type { SeenStep } from '../../support/agents/agent.js';
import { makeWorld, PNG } from '../../support/started-troupe.js';

export function describeAiSdk(version: 6 | 7): void {
  useLeakCheck();

  const NAME = 'mcp__box__echo';
  const CALL: ToolExecutionOptions<object> = { toolCallId: 'c', messages: [], context: {} };

  /** A tool of the host. */
  function ownTool(description: string): ToolSet[string] {
    return dynamicTool({
      description,
      inputSchema: jsonSchema({ type: 'object' }),
      execute: async () => 'host tool',
    });
  }

  async function execute(tools: ToolSet, args: unknown, options = CALL): Promise<ToolAnswer> {
    return (await tools[NAME]?.execute?.(args, options)) as ToolAnswer;
  }

  describe('a tool set for the AI SDK', () => {
    it('is a live object: names, tools and copies are current when they are read.', async () => {
      const { server, troupe } = await makeWorld({ tools: [tool('echo'), tool('old')] });
      const tools = toTools(troupe, { confirm: 'never' });
      const { [NAME]: before } = tools;
      const copy = { ...tools };
      server.script = { tools: [tool('echo'), tool('new')] };
      server.notify('notifications/tools/list_changed');
      await whenEmits(troupe.tools$, (all) => all.some(({ name }) => name.endsWith('new')));
      expect(Object.keys(tools)).toEqual([NAME, 'mcp__box__new']);
      expect(Object.keys(copy)).toEqual([NAME, 'mcp__box__old']);
      expect(tools[NAME]).toBe(before);
      expect('mcp__box__new' in tools).toBe(true);
      expect(tools['mcp__box__old']).toBe(copy['mcp__box__old']);
    });

    it('has no other names, such as inherited properties, and is read-only.', async () => {
      const { troupe } = await makeWorld();
      const tools = toTools(troupe, { confirm: 'never' });
      for (const name of ['toString', 'constructor', '__proto__', 'then', 'hasOwnProperty', '']) {
        expect(tools[name], name).toBeUndefined();
        expect(name in tools, name).toBe(false);
      }
      expect(() => (tools['x'] = ownTool('x'))).toThrow(TypeError);
      expect(() => delete tools[NAME]).toThrow(TypeError);
      expect(Object.keys(tools)).toEqual([NAME]);
    });

    it('has all tools, however many there are, each time that it is read.', async () => {
      const many = Array.from({ length: 2_000 }, (_, index) => tool(`t${index}`));
      const { troupe } = await makeWorld({ tools: many });
      const tools = toTools(troupe, { confirm: 'never' });
      expect(Object.keys(tools)).toHaveLength(2_000);
      for (let step = 0; step < 3; step += 1) expect(Object.entries(tools)).toHaveLength(2_000);
    }, 60_000);

    it("includes the host's own tools, which take precedence.", async () => {
      const { troupe } = await makeWorld({ tools: [tool('echo'), tool('other')] });
      const seen: SeenStep[] = [];
      const own = { mine: ownTool('mine'), [NAME]: ownTool('instead') };
      const { steps } = await generateText({
        model: scriptedModel([() => [{ name: 'mine' }, { name: NAME }, { name: 'mcp__box__other' }]], seen),
        prompt: 'go',
        tools: toTools(troupe, { own, confirm: 'never' }),
        stopWhen: stepCountIs(2),
      });
      expect(seen[0]?.offered.map(({ name, description }) => [name, description])).toEqual([
        ['mine', 'mine'],
        [NAME, 'instead'],
        ['mcp__box__other', 'does other'],
      ]);
      expect(steps[0]?.toolResults.map(({ output }) => (output as ToolAnswer).text ?? output)).toEqual([
        'host tool',
        'host tool',
        expect.stringContaining('other {}'),
      ]);
    });

    it('can be narrowed for a step with activeTools.', async () => {
      const { troupe } = await makeWorld({ tools: [tool('echo'), tool('other')] });
      const seen: SeenStep[] = [];
      await generateText({
        model: scriptedModel([() => [{ name: NAME }]], seen),
        prompt: 'go',
        tools: toTools(troupe, { confirm: 'never' }),
        prepareStep: ({ stepNumber }) => ({ activeTools: stepNumber === 0 ? [NAME] : ['mcp__box__other'] }),
        stopWhen: stepCountIs(2),
      });
      expect(seen.map(({ offered }) => offered.map(({ name }) => name))).toEqual([
        [NAME],
        ['mcp__box__other'],
      ]);
      expect(seen[1]?.answers[0]?.text).toContain('echo {}');
    });

    it('returns a plain answer as output, and names the server and the tool of a call.', async () => {
      const { troupe } = await makeWorld();
      const { steps } = await generateText({
        model: scriptedModel([() => [{ name: NAME, args: { a: 1 } }]]),
        prompt: 'go',
        tools: toTools(troupe, { confirm: 'never' }),
        stopWhen: stepCountIs(2),
      });
      const [result] = steps[0]?.toolResults ?? [];
      expect(result?.output).toEqual({
        text: '<mcp_tool_output server="box" tool="echo" trust="untrusted">\necho {"a":1}\n</mcp_tool_output>',
        blocks: [],
        isError: false,
      });
      expect(JSON.parse(JSON.stringify(result?.output))).toEqual(result?.output);
      expect(steps[0]?.toolCalls[0]).toMatchObject({ toolMetadata: { server: 'box', tool: 'echo' } });
    });

    it('keeps running agents of ToolLoopAgent up to date.', async () => {
      const { server, troupe } = await makeWorld({ tools: [tool('echo')] });
      const seen: SeenStep[] = [];
      const agent = new ToolLoopAgent({
        tools: toTools(troupe, { confirm: 'never' }),
        model: scriptedModel(
          [
            async () => {
              server.script = { tools: [tool('echo'), tool('new')] };
              server.notify('notifications/tools/list_changed');
              await whenEmits(troupe.tools$, (all) => all.length === 2);
              return [{ name: 'mcp__box__new' }];
            },
          ],
          seen,
        ),
      });
      await agent.generate({ prompt: 'go' });
      expect(seen.map(({ offered }) => offered.length)).toEqual([1, 2]);
      expect(seen[1]?.answers[0]?.text).toContain('new {}');
    });

    it('works with streams, and an abort ends them as aborted.', async () => {
      const { server, troupe } = await makeWorld();
      const streaming = (): MockLanguageModelV3 =>
        new MockLanguageModelV3({
          doStream: async ({ prompt }) => ({
            stream: simulateReadableStream({
              initialDelayInMs: null,
              chunkDelayInMs: null,
              chunks: chunksFor(prompt.at(-1)?.role === 'tool'),
            }),
          }),
        });
      const settings = {
        prompt: 'go',
        tools: toTools(troupe, { confirm: 'never' }),
        stopWhen: stepCountIs(3),
      };
      const { steps } = streamText({ model: streaming(), ...settings });
      const outputs = (await steps).flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
      expect(outputs).toMatchObject([{ text: expect.stringContaining('echo {"a":2}'), isError: false }]);

      server.script = { on: { 'tools/call': silent } };
      const controller = new AbortController();
      const { fullStream } = streamText({
        model: streaming(),
        ...settings,
        abortSignal: controller.signal,
        onError: () => {},
      });
      void server.whenReceived('tools/call', 2).then(() => controller.abort());
      const types: string[] = [];
      for await (const { type } of fullStream) types.push(type);
      expect(types).toContain('abort');
      await server.whenReceived('notifications/cancelled');
    });

    it('ends a step with an approval request if the host requires one, and calls after the approval.', async () => {
      const { server, troupe } = await makeWorld({ tools: [tool('echo'), tool('look')] });
      const asked: unknown[] = [];
      const tools = toTools(troupe, {
        needsApproval: ({ name }, input) => {
          asked.push([name, input]);
          return name === NAME;
        },
      });
      const calls = [{ name: NAME, args: { a: 1 } }, { name: 'mcp__box__look' }];
      const first = await generateText({
        model: scriptedModel([() => calls]),
        prompt: 'go',
        tools,
        stopWhen: stepCountIs(3),
      });
      expect(server.of('tools/call').map(({ params }) => params['name'])).toEqual(['look']);
      expect(asked).toEqual([
        [NAME, { a: 1 }],
        ['mcp__box__look', {}],
      ]);
      const request = first.content.find((part) => part.type === 'tool-approval-request');
      const messages: ModelMessage[] = [
        { role: 'user', content: 'go' },
        ...first.response.messages,
        {
          role: 'tool',
          content: [
            { type: 'tool-approval-response', approvalId: request?.approvalId ?? '', approved: true },
          ],
        },
      ];
      await generateText({ model: scriptedModel([]), messages, tools });
      expect(server.of('tools/call').map(({ params }) => params['name'])).toEqual(['look', 'echo']);
    });

    it('calls after an approval only the exact tool that was approved.', async () => {
      const { server, troupe } = await makeWorld({ tools: [tool('echo')] });
      const tools = toTools(troupe, { needsApproval: () => true });
      const ask = async (): Promise<ModelMessage[]> => {
        const model = scriptedModel([() => [{ name: NAME }]]);
        const { content, response } = await generateText({ model, prompt: 'go', tools });
        const request = content.find((part) => part.type === 'tool-approval-request');
        const approval = { approvalId: request?.approvalId ?? '', approved: true };
        return [
          { role: 'user', content: 'go' },
          ...response.messages,
          { role: 'tool', content: [{ type: 'tool-approval-response', ...approval }] },
        ];
      };
      const goOn = async (messages: ModelMessage[]): Promise<string> => {
        const model = scriptedModel([]);
        await generateText({ model, messages, tools });
        return JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
      };
      const confirmed = await ask();
      const changed = tool('echo', { description: 'sends everything to everybody' });
      server.script = { ...server.script, tools: [changed] };
      await troupe.connection('box')?.refresh();
      expect(await goOn(confirmed)).toMatch(/MCP error: .*changed/);
      expect(server.of('tools/call')).toEqual([]);
      expect(await goOn(await ask())).toContain('echo {}');
    });

    it('passes other media to models that accept them.', async () => {
      const content = [
        { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
      ];
      const { troupe } = await makeWorld({ on: { 'tools/call': () => ({ content }) } });
      const tools = toTools(troupe, { shows: () => true, confirm: 'never' });
      const output = await execute(tools, {});
      const shown = await tools[NAME]?.toModelOutput?.({ toolCallId: 'c', input: {}, output });
      expect(shown).toMatchObject({
        type: 'content',
        value: [
          { type: 'text' },
          ...(version === 6
            ? [
                { type: 'file-data', mediaType: 'audio/wav', data: 'UklGRg==' },
                { type: 'image-data', mediaType: 'image/png', data: PNG },
              ]
            : [
                { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: 'UklGRg==' } },
                { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PNG } },
              ]),
        ],
      });
    });

    it('mentions media on which the filter of the host fails, since the call was made.', async () => {
      const content = [{ type: 'image', data: PNG, mimeType: 'image/png' }];
      const { troupe } = await makeWorld({ on: { 'tools/call': () => ({ content }) } });
      const shows = (): boolean => {
        throw new RangeError('host error');
      };
      const output = await execute(toTools(troupe, { shows, confirm: 'never' }), {});
      expect(output).toMatchObject({ isError: false, blocks: [] });
      expect(output.text).toContain('1 image');
    });

    it('turns stored messages of a user interface into what the model saw.', async () => {
      const { troupe } = await makeWorld({ on: { 'tools/call': () => ({ ...text('no'), isError: true }) } });
      const tools = toTools(troupe, { confirm: 'never' });
      const output = JSON.parse(JSON.stringify(await execute(tools, {}))) as ToolAnswer;
      const messages = await convertToModelMessages(
        [
          {
            role: 'assistant',
            parts: [
              {
                type: 'dynamic-tool',
                toolName: NAME,
                toolCallId: 'c',
                state: 'output-available',
                input: {},
                output,
              },
            ],
          },
        ],
        { tools },
      );
      expect(messages.at(-1)?.content).toMatchObject([
        { output: { type: 'error-text', value: output.text } },
      ]);
    });

    it('throws the reason of an abort unchanged, even while the host is asked, and errors of the host.', async () => {
      const { server, troupe } = await makeWorld({ on: { 'tools/call': silent } });
      const controller = new AbortController();
      const running = execute(
        toTools(troupe, { confirm: 'never' }),
        {},
        { ...CALL, abortSignal: controller.signal },
      );
      await server.whenReceived('tools/call');
      controller.abort('not an error');
      await expect(running).rejects.toBe('not an error');
      await expect(
        execute(toTools(troupe, { confirm: 'never' }), {}, { ...CALL, abortSignal: controller.signal }),
      ).rejects.toBe('not an error');

      const asking = new AbortController();
      const never = toTools(troupe, { confirm: () => new Promise<boolean>(() => {}) });
      const waiting = execute(never, {}, { ...CALL, abortSignal: asking.signal });
      asking.abort(new Error('gone home'));
      await expect(waiting).rejects.toThrow('gone home');

      const broken = toTools(troupe, {
        confirm: () => {
          throw new RangeError('host error');
        },
      });
      await expect(execute(broken, {})).rejects.toThrow(RangeError);
      const wrong = toTools(troupe, { timeoutMs: 'soon' as unknown as number, confirm: 'never' });
      await expect(execute(wrong, {})).rejects.toThrow(TypeError);
      expect(server.of('tools/call')).toHaveLength(1);
    });

    it('reports to the model that the arguments are not an object or cannot be sent.', async () => {
      const { server, troupe } = await makeWorld();
      const refusing = {
        tools: troupe.tools,
        tool: () => undefined,
        searchTools: troupe.searchTools.bind(troupe),
        renderResult: troupe.renderResult.bind(troupe),
        callTool: () => Promise.reject(new TypeError('not JSON')),
      };
      const cases = [[1], 'text', 7].map((args) => ({ source: troupe, args }));
      for (const { source, args } of [...cases, { source: refusing, args: { big: 1n } }]) {
        const { text: shown, isError } = await execute(toTools(source, { confirm: 'never' }), args);
        expect(shown).toMatch(/^MCP error: .*arguments/);
        expect(isError).toBe(true);
      }
      await expect(execute(toTools(refusing, { confirm: 'never' }), {})).rejects.toThrow(TypeError);
      expect(server.of('tools/call')).toEqual([]);
    });
  });

  type Chunk =
    Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer T>
      ? T
      : never;

  function chunksFor(isAnswered: boolean): Chunk[] {
    const end: Chunk = {
      type: 'finish',
      finishReason: { unified: isAnswered ? 'stop' : 'tool-calls', raw: undefined },
      usage: USAGE,
    };
    return isAnswered
      ? [end]
      : [{ type: 'tool-call', toolCallId: 'c', toolName: NAME, input: '{"a":2}' }, end];
  }
}
