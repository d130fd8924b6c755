/** An agent loop on the `@anthropic-ai/sdk` package. */
import Anthropic from '@anthropic-ai/sdk';
import { createTroupe, TOOL_OUTPUT_SYSTEM_PROMPT } from 'mcp-troupe';
import { runToolCalls, toTools } from 'mcp-troupe/anthropic';
import { everything } from './servers.ts';
import { scriptedFetch } from './scripted/anthropic.ts';

const anthropic = new Anthropic({ apiKey: 'none', fetch: scriptedFetch });
const troupe = createTroupe({ servers: { everything } });
await troupe.start();

const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is 2 + 3? Show me the logo.' }];
for (;;) {
  const { content, stop_reason } = await anthropic.messages.create({
    model: 'scripted',
    max_tokens: 1_000,
    system: TOOL_OUTPUT_SYSTEM_PROMPT,
    messages,
    tools: toTools(troupe),
  });
  if (stop_reason !== 'tool_use') {
    for (const block of content) if (block.type === 'text') console.log(block.text);
    break;
  }
  const answers = await runToolCalls(troupe, content, { confirm: 'never' });
  for (const answer of answers)
    console.log(
      answer.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n'),
    );
  messages.push({ role: 'assistant', content }, { role: 'user', content: answers });
}

await troupe.close();
