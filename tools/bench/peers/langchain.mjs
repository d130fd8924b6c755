/** LangChain's adapters: one client of many servers, which opens them one after another. */
export const load = () => import('@langchain/mcp-adapters');

export async function open({ MultiServerMCPClient }, servers, { onListed = () => {} } = {}) {
  let notified = 0;
  const client = new MultiServerMCPClient({
    mcpServers: Object.fromEntries(servers.map((server) => [server.name, toEntry(server)])),
    prefixToolNameWithServerName: true,
    onConnectionError: 'ignore',
    onMessage: () => {
      notified += 1;
    },
  });
  const tools = await client.getTools();
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const isThere = ({ name }) => byName.has(`${name}__tool_0`);
  for (const { name } of servers.filter(isThere)) onListed(name);
  return {
    tools: tools.length,
    failed: servers.filter((server) => !isThere(server)).length,
    notified: () => notified,
    caller: (server, tool) => {
      const found = byName.get(`${server}__${tool}`);
      return (given) => found.invoke(given);
    },
    close: () => client.close(),
  };
}

function toEntry({ kind, command, args, url }) {
  if (kind === 'http') return { transport: 'http', url };
  return { transport: 'stdio', command, args, stderr: 'ignore' };
}
