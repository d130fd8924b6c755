import OpenAI from 'openai';
import { runResponsesToolCalls, toResponsesTools } from '../../../src/adapters/openai.js';
import { typeOfDataUrl, type ScriptedAgent, type SeenStep, type ReceivedAnswer } from './agent.js';
import { scriptedFetch, written } from './scripted-fetch.js';

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Output = OpenAI.Responses.ResponseInputItem.FunctionCallOutput['output'];

export const openaiResponses: ScriptedAgent = {
  name: "OpenAI's Responses API",
  showsImages: true,
  marksErrors: false,
  run: async (source, steps, { signal, offer, ...options } = {}) => {
    const seen: SeenStep[] = [];
    const client = new OpenAI({
      apiKey: 'none',
      maxRetries: 0,
      fetch: scriptedFetch(steps, seen, {
        see: (body) => seenIn(body),
        answer: (calls, step) => ({
          output: [
            { type: 'reasoning', id: `thought-${step}`, summary: [] },
            ...calls.map(({ name, args }, at) => ({
              type: 'function_call',
              call_id: `call-${step}-${at}`,
              name,
              arguments: written(args),
            })),
          ],
        }),
      }),
    });
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'go' }];
    for (;;) {
      const { output } = await client.responses.create(
        {
          model: 'scripted',
          input,
          tools: toResponsesTools(source, {
            ...(offer !== undefined && { offer: { ...offer, search: 'troupe' } }),
          }),
        },
        { ...(signal !== undefined && { signal }) },
      );
      const answers = await runResponsesToolCalls(source, output, { ...options, ...(signal && { signal }) });
      if (answers.length === 0) return seen;
      input.push(...(output as OpenAI.Responses.ResponseInput), ...answers);
    }
  },
};

function seenIn({ tools = [], input }: Params): SeenStep {
  const items = Array.isArray(input) ? input : [];
  const lastCall = items.findLastIndex(({ type }) => type === 'function_call');
  return {
    offered: tools.flatMap((tool) =>
      tool.type === 'function'
        ? [{ name: tool.name, description: tool.description ?? undefined, schema: tool.parameters }]
        : [],
    ),
    answers: items
      .slice(lastCall + 1)
      .flatMap((item) => (item.type === 'function_call_output' ? [toAnswer(item.output)] : [])),
  };
}

function toAnswer(output: Output): ReceivedAnswer {
  if (typeof output === 'string') return { text: output, isError: undefined, media: [] };
  return {
    text: output.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])).join('\n'),
    isError: undefined,
    media: output.flatMap((part) => {
      if (part.type === 'input_image') return [typeOfDataUrl(part.image_url ?? '')];
      return part.type === 'input_file' ? [typeOfDataUrl(part.file_data ?? '')] : [];
    }),
  };
}
