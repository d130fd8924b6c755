/** An agent of the AI SDK. A server is added while it runs, and the next step has its tools. */
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { createTroupe, TOOL_OUTPUT_SYSTEM_PROMPT } from 'mcp-troupe';
import { toTools, type ToolAnswer } from 'mcp-troupe/ai-sdk';
import { model } from './scripted/ai-sdk.ts';
import { everything, memory } from './servers.ts';

const troupe = createTroupe({ servers: { everything } });
await troupe.start();

const connectMemory = tool({
  description: 'Connects the memory.',
  inputSchema: jsonSchema({ type: 'object', properties: {} }),
  execute: async () => {
    const connection = await troupe.add('memory', memory);
    await connection.ready();
    return 'The memory is connected.';
  },
});
const tools = toTools(troupe, { own: { connectMemory }, confirm: 'never' });

const { text } = await generateText({
  model,
  system: TOOL_OUTPUT_SYSTEM_PROMPT,
  prompt: 'What is 2 + 3, and what do you remember?',
  tools,
  stopWhen: stepCountIs(10),
  prepareStep: ({ stepNumber }) => {
    console.log(`step ${stepNumber}: ${Object.keys(tools).length} tools`);
  },
  onStepFinish: ({ toolResults }) => {
    for (const { toolName, output } of toolResults) {
      console.log(`${toolName}: ${typeof output === 'string' ? output : (output as ToolAnswer).text}`);
    }
  },
});
console.log(text);

await troupe.close();
