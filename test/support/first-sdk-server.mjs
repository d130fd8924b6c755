/**
 * The tools of `era-server.mjs`, offered with the first version of the SDK: as a program over stdio, or over HTTP with a port
 * (`node first-sdk-server.mjs [PORT]`). Imported: `inProcessServer`.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

function build() {
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
      await sendNotification({
        method: 'notifications/message',
        params: { level: 'info', data: 'half way' },
      });
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
  return server;
}

/** A server for an entry of this process. `drop` ends its present sessions. */
export function inProcessServer() {
  const transports = new Set();
  return {
    async connect(transport) {
      transports.add(transport);
      await build().connect(transport);
    },
    async drop() {
      for (const transport of transports) await transport.close();
    },
  };
}

function serveHttp(port) {
  const sessions = new Map();
  const server = createServer(async (req, res) => {
    let transport = sessions.get(req.headers['mcp-session-id']);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      await build().connect(transport);
    }
    await transport.handleRequest(req, res);
  });
  server.listen(port, '127.0.0.1', () => console.log(server.address().port));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [port] = process.argv.slice(2);
  if (port !== undefined) serveHttp(Number(port));
  else await build().connect(new StdioServerTransport());
}
