/** The tools of `era-server.mjs`, offered over stdio with the first version of the SDK. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
let cancelled = 0;

const server = new McpServer(
  { name: 'first', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true }, logging: {} } },
);
server.registerTool('echo', { inputSchema: { text: z.string() } }, (given) => text(given.text));
server.registerTool('region', { inputSchema: { region: z.string() } }, (given) => text(given.region));
server.registerTool(
  'slow',
  { inputSchema: { isEndless: z.boolean().optional() } },
  async ({ isEndless = false }, { _meta, signal, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 1, total: 2 };
      await sendNotification({ method: 'notifications/progress', params });
    }
    await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'half way' } });
    if (isEndless) {
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      cancelled += 1;
    }
    return text('done');
  },
);
server.registerTool('cancelled', {}, () => text(cancelled));
server.registerTool('deploy', {}, async () => {
  const requestedSchema = { type: 'object', properties: { isSure: { type: 'boolean' } } };
  const { content } = await server.server.elicitInput({ message: 'Deploy?', requestedSchema });
  return text(`deployed: ${content?.isSure}`);
});
const extra = server.registerTool('extra', {}, () => text('extra'));
extra.disable();
server.registerTool('flip', {}, () => {
  extra.enable();
  return text('flipped');
});
await server.connect(new StdioServerTransport());
