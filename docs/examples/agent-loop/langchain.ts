/** An agent of LangChain, whose tools are those that the troupe has at each step. */
import { createAgent, ToolMessage } from 'langchain';
import { createTroupe, TOOL_OUTPUT_SYSTEM_PROMPT, type CallToolResult } from 'mcp-troupe';
import { liveTools } from 'mcp-troupe/langchain';
import { model } from './scripted/langchain.ts';
import { everything } from './servers.ts';

const troupe = createTroupe({ servers: { everything } });
await troupe.start();

const agent = createAgent({
  model,
  systemPrompt: TOOL_OUTPUT_SYSTEM_PROMPT,
  middleware: [liveTools(troupe, { confirm: 'never' })],
});
const { messages } = await agent.invoke({ messages: 'What is 2 + 3? Show me the logo, and close the door.' });
for (const message of messages) {
  if (!ToolMessage.isInstance(message)) continue;
  const { name, status, text } = message;
  const result = message.artifact as CallToolResult | undefined;
  console.log(`${name}: ${status}, ${result?.content.length ?? 0} blocks\n${text}`);
}

await troupe.close();
