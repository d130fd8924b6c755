/** The MCP servers of OpenAI's agents, connected in parallel. It tells the host of no log message. */
export const load = () => import('@openai/agents');

export async function open(library, servers, { onListed = () => {} } = {}) {
  const all = servers.map((server) => toServer(library, server));
  const connected = await library.connectMcpServers(all, { connectInParallel: true });
  const byName = new Map(connected.active.map((server) => [server.name, server]));
  const counts = await Promise.all(
    connected.active.map(async (server) => {
      const tools = await server.listTools();
      onListed(server.name);
      return tools.length;
    }),
  );
  return {
    tools: counts.reduce((sum, count) => sum + count, 0),
    failed: connected.failed.length,
    notified: () => 0,
    caller: (server, tool) => {
      const found = byName.get(server);
      return (given) => found.callTool(tool, given);
    },
    close: () => connected.close(),
  };
}

function toServer({ MCPServerStdio, MCPServerStreamableHttp }, { name, kind, command, args, url }) {
  if (kind === 'http') return new MCPServerStreamableHttp({ name, url });
  return new MCPServerStdio({ name, command, args, cacheToolsList: true });
}
