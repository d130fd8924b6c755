import OpenAI from 'openai';
import { runChatToolCalls, toChatTools } from '../../../src/adapters/openai.js';
import type { ScriptedAgent, SeenStep } from './agent.js';
import { scriptedFetch, written } from './scripted-fetch.js';

type Params = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;

export const openaiChat: ScriptedAgent = {
  name: "OpenAI's Chat Completions",
  showsImages: false,
  marksErrors: false,
  run: async (source, steps, { signal, offer, ...options } = {}) => {
    const seen: SeenStep[] = [];
    const client = new OpenAI({
      apiKey: 'none',
      maxRetries: 0,
      fetch: scriptedFetch(steps, seen, {
        see: (body) => seenIn(body as unknown as Params),
        answer: (calls, step) => ({
          choices: [
            {
              index: 0,
              finish_reason: calls.length === 0 ? 'stop' : 'tool_calls',
              message: {
                role: 'assistant',
                content: calls.length === 0 ? 'done' : null,
                ...(calls.length > 0 && {
                  tool_calls: calls.map(({ name, args }, at) => ({
                    id: `call-${step}-${at}`,
                    type: 'function',
                    function: { name, arguments: written(args) },
                  })),
                }),
              },
            },
          ],
        }),
      }),
    });
    const messages: Params['messages'] = [{ role: 'user', content: 'go' }];
    for (;;) {
      const tools = toChatTools(source, { ...(offer !== undefined && { offer }) });
      const completion = await client.chat.completions.create(
        { model: 'scripted', messages, ...(tools.length > 0 && { tools }) },
        { ...(signal !== undefined && { signal }) },
      );
      const message = completion.choices[0]?.message;
      if (message?.tool_calls === undefined) return seen;
      messages.push(
        message,
        ...(await runChatToolCalls(source, message.tool_calls, { ...options, ...(signal && { signal }) })),
      );
    }
  },
};

function seenIn({ tools = [], messages }: Params): SeenStep {
  const lastCall = messages.findLastIndex(({ role }) => role === 'assistant');
  return {
    offered: tools.flatMap((tool) =>
      tool.type === 'function'
        ? [
            {
              name: tool.function.name,
              description: tool.function.description,
              schema: tool.function.parameters,
            },
          ]
        : [],
    ),
    answers: messages
      .slice(lastCall + 1)
      .flatMap((message) =>
        message.role === 'tool' ? [{ text: message.content as string, isError: undefined, media: [] }] : [],
      ),
  };
}
