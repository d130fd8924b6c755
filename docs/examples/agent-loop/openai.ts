/** Two agent loops on the `openai` package: one of the Responses API, one of Chat Completions. */
import OpenAI from 'openai';
import { createTroupe, TOOL_OUTPUT_SYSTEM_PROMPT } from 'mcp-troupe';
import { runChatToolCalls, runResponsesToolCalls, toChatTools, toResponsesTools } from 'mcp-troupe/openai';
import { everything } from './servers.ts';
import { scriptedFetch } from './scripted/openai.ts';

const openai = new OpenAI({ apiKey: 'none', fetch: scriptedFetch });
const troupe = createTroupe({ servers: { everything } });
await troupe.start();

async function respond(question: string): Promise<string> {
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
  for (;;) {
    const response = await openai.responses.create({
      model: 'scripted',
      instructions: TOOL_OUTPUT_SYSTEM_PROMPT,
      input,
      tools: toResponsesTools(troupe),
    });
    const answers = await runResponsesToolCalls(troupe, response.output, { confirm: 'never' });
    if (answers.length === 0) return response.output_text;
    for (const { output } of answers) console.log(output);
    // The package declares what a response holds apart from what a request takes.
    input.push(...(response.output as OpenAI.Responses.ResponseInput), ...answers);
  }
}

async function chat(question: string): Promise<string | null> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: TOOL_OUTPUT_SYSTEM_PROMPT },
    { role: 'user', content: question },
  ];
  for (;;) {
    const { choices } = await openai.chat.completions.create({
      model: 'scripted',
      messages,
      tools: toChatTools(troupe),
    });
    const message = choices[0]?.message;
    if (message?.tool_calls === undefined) return message?.content ?? null;
    const answers = await runChatToolCalls(troupe, message.tool_calls, { confirm: 'never' });
    for (const { content } of answers) console.log(content);
    messages.push(message, ...answers);
  }
}

console.log(await respond('What is 2 + 3?'));
console.log(await chat('What is 2 + 3?'));

await troupe.close();
