import Anthropic from '@anthropic-ai/sdk';
import { runToolCalls, toTools } from '../../../src/adapters/anthropic.js';
import type { ScriptedAgent, SeenStep } from './agent.js';
import { scriptedFetch } from './scripted-fetch.js';

type Params = Anthropic.Messages.MessageCreateParamsNonStreaming;

export const anthropic: ScriptedAgent = {
  name: "Anthropic's Messages API",
  showsImages: true,
  marksErrors: true,
  run: async (source, steps, { signal, offer, ...options } = {}) => {
    const seen: SeenStep[] = [];
    const client = new Anthropic({
      apiKey: 'none',
      maxRetries: 0,
      fetch: scriptedFetch(steps, seen, {
        see: (body) => seenIn(body as unknown as Params),
        answer: (calls, step) => ({
          type: 'message',
          role: 'assistant',
          stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use',
          content: [
            { type: 'text', text: 'hm' },
            ...calls.map(({ name, args = {} }, at) => ({
              type: 'tool_use',
              id: `call-${step}-${at}`,
              name,
              input: args,
            })),
          ],
        }),
      }),
    });
    const messages: Anthropic.Messages.MessageParam[] = [{ role: 'user', content: 'go' }];
    for (;;) {
      const { content } = await client.messages.create(
        {
          model: 'scripted',
          max_tokens: 100,
          messages,
          tools: toTools(source, { ...(offer !== undefined && { offer: { ...offer, search: 'troupe' } }) }),
        },
        { ...(signal !== undefined && { signal }) },
      );
      const answers = await runToolCalls(source, content, { ...options, ...(signal && { signal }) });
      if (answers.length === 0) return seen;
      messages.push({ role: 'assistant', content }, { role: 'user', content: answers });
    }
  },
};

function seenIn({ tools = [], messages }: Params): SeenStep {
  const last = messages.at(-1);
  const blocks = last?.role === 'user' && typeof last.content !== 'string' ? last.content : [];
  return {
    offered: tools.flatMap((tool) =>
      'input_schema' in tool
        ? [{ name: tool.name, description: tool.description, schema: tool.input_schema }]
        : [],
    ),
    answers: blocks.flatMap((block) => {
      if (block.type !== 'tool_result' || !Array.isArray(block.content)) return [];
      const text = block.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
      const media = block.content.flatMap((part) =>
        'source' in part && typeof part.source === 'object' && 'media_type' in part.source
          ? [part.source.media_type]
          : [],
      );
      return [{ text, isError: block.is_error === true, media }];
    }),
  };
}
