/** A model that follows a script. In its place stands yours: `openai('…')`, `anthropic('…')`, … */
import { MockLanguageModelV3 } from 'ai/test';

const CALLS = [
  { toolName: 'mcp__everything__get-sum', input: { a: 2, b: 3 } },
  { toolName: 'connectMemory', input: {} },
  { toolName: 'mcp__memory__read_graph', input: {} },
];

/** A scripted model uses no tokens that are known. */
const UNKNOWN = undefined;
const USAGE = {
  inputTokens: { total: UNKNOWN, noCache: UNKNOWN, cacheRead: UNKNOWN, cacheWrite: UNKNOWN },
  outputTokens: { total: UNKNOWN, text: UNKNOWN, reasoning: UNKNOWN },
};

export const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const step = prompt.filter(({ role }) => role === 'tool').length;
    const call = CALLS[step];
    return {
      content:
        call === undefined
          ? [{ type: 'text', text: 'It is 5, and I remember nothing.' }]
          : [
              {
                type: 'tool-call',
                toolCallId: `call-${step}`,
                toolName: call.toolName,
                input: JSON.stringify(call.input),
              },
            ],
      finishReason: { unified: call === undefined ? 'stop' : 'tool-calls', raw: undefined },
      usage: USAGE,
      warnings: [],
    };
  },
});
