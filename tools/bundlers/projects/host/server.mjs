/** An MCP server with one tool that tells who called. On stdin and stdout, or with `--http` on a port, which it prints. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

function makeServer() {
  const server = new McpServer({ name: 'whoami', version: '1.0.0' });
  server.registerTool('whoami', {}, () => {
    const { name, version } = server.server.getClientVersion();
    return { content: [{ type: 'text', text: `${name} ${version}` }] };
  });
  return server;
}

if (process.argv.includes('--http')) {
  const sessions = new Map();
  const listener = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(id);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (made) => sessions.set(made, transport),
      });
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  listener.listen(0, '127.0.0.1', () => console.log(listener.address().port));
} else {
  await makeServer().connect(new StdioServerTransport());
}
