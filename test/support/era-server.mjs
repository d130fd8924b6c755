/**
 * A server of the second version of the SDK that speaks the old era, the new one or both. As a program over stdio, or over
 * HTTP with a port: `node era-server.mjs old|new|both [PORT]`. Imported: `inProcessServer`.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import * as z from 'zod';

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

/** What the servers of one process share. */
function makeServer() {
  let isFlipped = false;
  let cancelled = 0;
  let announce = () => {};
  const extras = new Set();

  function build() {
    const server = new McpServer(
      { name: 'eras', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true }, logging: {} } },
    );
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, (given) => text(given.text));
    server.registerTool(
      'region',
      { inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
      (given) => text(given.region),
    );
    server.registerTool(
      'slow',
      { inputSchema: z.object({ isEndless: z.boolean().optional() }) },
      async ({ isEndless = false }, { mcpReq }) => {
        const progressToken = mcpReq._meta?.progressToken;
        if (progressToken !== undefined) {
          const params = { progressToken, progress: 1, total: 2 };
          await mcpReq.notify({ method: 'notifications/progress', params });
        }
        await mcpReq.log('info', 'half way');
        if (isEndless) {
          const { signal } = mcpReq;
          if (!signal.aborted)
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          cancelled += 1;
        }
        return text('done');
      },
    );
    server.registerTool('pid', { inputSchema: z.object({}) }, () => text(process.pid));
    server.registerTool('cancelled', { inputSchema: z.object({}) }, () => text(cancelled));
    server.registerTool('deploy', { inputSchema: z.object({}) }, (_, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'confirm');
      if (answer !== undefined) return text(`deployed: ${answer.isSure}`);
      const requestedSchema = { type: 'object', properties: { isSure: { type: 'boolean' } } };
      const confirm = inputRequired.elicit({ message: 'Deploy?', requestedSchema });
      return inputRequired({ inputRequests: { confirm } });
    });
    const extra = server.registerTool('extra', { inputSchema: z.object({}) }, () => text('extra'));
    if (!isFlipped) extra.disable();
    extras.add(extra);
    server.registerTool('flip', { inputSchema: z.object({}) }, () => {
      isFlipped = true;
      for (const each of extras) each.enable();
      announce();
      return text('flipped');
    });
    return server;
  }

  return { build, onflip: (listener) => (announce = listener) };
}

const legacyOf = (era) => (era === 'new' ? 'reject' : 'serve');

/** A server for an entry of this process. `drop` ends its present sessions. */
export function inProcessServer(era) {
  const transports = new Set();
  return {
    async connect(transport) {
      transports.add(transport);
      const { build } = makeServer();
      if (era === 'old') await build().connect(transport);
      else serveStdio(build, { transport, legacy: legacyOf(era) });
    },
    async drop() {
      for (const transport of transports) await transport.close();
    },
  };
}

async function serveHttp(era, port) {
  const { build, onflip } = makeServer();
  const sessions = new Map();
  const oldOnly = async (req, res) => {
    let transport = sessions.get(req.headers['mcp-session-id']);
    if (transport === undefined) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      await build().connect(transport);
    }
    await transport.handleRequest(req, res);
  };
  const legacy = era === 'new' ? 'reject' : 'stateless';
  const handler = createMcpHandler(build, { legacy });
  onflip(() => handler.notify.toolsChanged());
  const server = createServer(era === 'old' ? oldOnly : toNodeHandler(handler));
  server.listen(port, '127.0.0.1', () => console.log(server.address().port));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [era, port] = process.argv.slice(2);
  if (port !== undefined) await serveHttp(era, Number(port));
  else if (era === 'old') await makeServer().build().connect(new StdioServerTransport());
  else serveStdio(makeServer().build, { legacy: legacyOf(era) });
}
