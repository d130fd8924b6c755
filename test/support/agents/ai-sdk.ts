import { generateText, stepCountIs, type ToolSet } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { toTools } from '../../../src/adapters/ai-sdk.js';
import {
  stepAt,
  type ScriptedAgent,
  type ScriptedStep,
  type SeenStep,
  type ReceivedAnswer,
} from './agent.js';

type ModelCall = MockLanguageModelV3['doGenerateCalls'][number];
type ModelAnswer = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
type PromptMessage = ModelCall['prompt'][number];

export const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that follows a script and records what it receives. */
export function scriptedModel(steps: readonly ScriptedStep[], seen: SeenStep[] = []): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: async (call): Promise<ModelAnswer> => {
      call.abortSignal?.throwIfAborted();
      const index = seen.length;
      seen.push(seenIn(call));
      const calls = await stepAt(steps, index)();
      return {
        content:
          calls.length === 0
            ? [{ type: 'text', text: 'done' }]
            : calls.map(({ name, args = {} }, at) => ({
                type: 'tool-call',
                toolCallId: `call-${index}-${at}`,
                toolName: name,
                input: JSON.stringify(args),
              })),
        finishReason: { unified: calls.length === 0 ? 'stop' : 'tool-calls', raw: undefined },
        usage: USAGE,
        warnings: [],
      };
    },
  });
}

export const aiSdk: ScriptedAgent = {
  name: 'the AI SDK',
  showsImages: true,
  marksErrors: true,
  run: async (source, steps, { signal, ...options } = {}) => {
    const seen: SeenStep[] = [];
    const tools: ToolSet = toTools(source, options);
    await generateText({
      model: scriptedModel(steps, seen),
      prompt: 'go',
      tools,
      stopWhen: stepCountIs(steps.length + 1),
      maxRetries: 0,
      ...(signal !== undefined && { abortSignal: signal }),
    });
    return seen;
  },
};

function seenIn({ tools = [], prompt }: ModelCall): SeenStep {
  return {
    offered: tools.flatMap((tool) =>
      tool.type === 'function'
        ? [{ name: tool.name, description: tool.description, schema: tool.inputSchema }]
        : [],
    ),
    answers: answersIn(prompt.at(-1)),
  };
}

function answersIn(message: PromptMessage | undefined): ReceivedAnswer[] {
  if (message?.role !== 'tool') return [];
  return message.content.flatMap((part): ReceivedAnswer[] => {
    if (part.type !== 'tool-result') return [];
    const { output } = part;
    switch (output.type) {
      case 'text':
      case 'error-text':
        return [{ text: output.value, isError: output.type === 'error-text', media: [] }];
      case 'json':
        return [{ text: JSON.stringify(output.value), isError: false, media: [] }];
      case 'content':
        return [
          {
            text: output.value.flatMap((each) => (each.type === 'text' ? [each.text] : [])).join('\n'),
            isError: false,
            media: output.value.flatMap((each) => ('mediaType' in each ? [each.mediaType] : [])),
          },
        ];
      default:
        throw new Error(`The model got a result of the type ${output.type}.`);
    }
  });
}
