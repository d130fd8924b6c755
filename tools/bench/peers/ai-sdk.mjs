/** The MCP client of the AI SDK, by the `execute` of its tools. It tells the host of no log message. */
import { openEach } from '../clients/open-each.mjs';

export async function load(kind) {
  const [library, stdio] = await Promise.all([
    import('@ai-sdk/mcp'),
    kind === 'stdio' ? import('@ai-sdk/mcp/mcp-stdio') : {},
  ]);
  return { ...library, ...stdio };
}

export function open(library, servers, { onListed = () => {} } = {}) {
  return openEach(servers, async (server) => {
    const transport = await toTransport(library, server);
    const client = await library.createMCPClient({ transport });
    const tools = await client.tools();
    onListed(server.name);
    let next = 0;
    return {
      tools: Object.keys(tools).length,
      caller: (name) => (given) =>
        tools[name].execute(given, { toolCallId: String((next += 1)), messages: [] }),
      close: () => client.close(),
    };
  });
}

async function toTransport(library, { kind, command, args, url, server }) {
  if (kind === 'http') return { type: 'http', url };
  if (kind === 'stdio')
    return new library.Experimental_StdioMCPTransport({ command, args, stderr: 'ignore' });
  const far = {
    start: async () => {},
    send: async (message) => queueMicrotask(() => near.onmessage(message)),
  };
  const near = {
    start: async () => {},
    send: async (message) => queueMicrotask(() => far.onmessage(message)),
    close: async () => near.onclose?.(),
  };
  await server.connect(far);
  return near;
}
