/** An agent loop on the `@anthropic-ai/sdk` package. */
import Anthropic from '@anthropic-ai/sdk';
import { createTroupe, TOOL_OUTPUT_SYSTEM_PROMPT } from 'mcp-troupe';
import { runToolCalls, toTools } from 'mcp-troupe/anthropic';
import { everything } from './servers.mjs';
import { scriptedFetch } from './scripted/anthropic.mjs';

const anthropic = new Anthropic({ apiKey: 'none', fetch: scriptedFetch });
const troupe = createTroupe({ servers: { everything } });
await troupe.start();

const messages = [{ role: 'user', content: 'What is 2 + 3? Show me the logo.' }];
for (;;) {
  const { content, stop_reason } = await anthropic.messages.create({
    model: 'scripted',
    max_tokens: 1_000,
    system: TOOL_OUTPUT_SYSTEM_PROMPT,
    messages,
    tools: toTools(troupe),
  });
  if (stop_reason !== 'tool_use') {
    console.log(content[0].text);
    break;
  }
  const answers = await runToolCalls(troupe, content, { confirm: 'never' });
  for (const answer of answers)
    console.log(answer.content.map(({ type, text }) => text ?? `[${type}]`).join('\n'));
  messages.push({ role: 'assistant', content }, { role: 'user', content: answers });
}

await troupe.close();
