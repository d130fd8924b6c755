/** An agent of LangChain, whose tools are those that the troupe has at each step. */
import { createAgent } from 'langchain';
import { createTroupe, TOOL_OUTPUT_SYSTEM_PROMPT } from 'mcp-troupe';
import { liveTools } from 'mcp-troupe/langchain';
import { model } from './scripted/langchain.mjs';
import { everything } from './servers.mjs';

const troupe = createTroupe({ servers: { everything } });
await troupe.start();

const agent = createAgent({
  model,
  systemPrompt: TOOL_OUTPUT_SYSTEM_PROMPT,
  middleware: [liveTools(troupe, { confirm: 'never' })],
});
const { messages } = await agent.invoke({ messages: 'What is 2 + 3? Show me the logo, and close the door.' });
for (const { type, name, status, text, artifact } of messages) {
  if (type === 'tool') console.log(`${name}: ${status}, ${artifact?.content.length ?? 0} blocks\n${text}`);
}

await troupe.close();
