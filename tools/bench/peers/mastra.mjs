/** Mastra's client of many servers, by the `execute` of its tools. */
export const load = () => import('@mastra/mcp');

export async function open({ MCPClient }, servers, { onListed = () => {} } = {}) {
  let notified = 0;
  const logger = ({ level }) => {
    if (level === 'info') notified += 1;
  };
  const entries = servers.map((server) => [
    server.name,
    { ...toEntry(server), logger, enableServerLogs: true },
  ]);
  const client = new MCPClient({ id: 'bench', servers: Object.fromEntries(entries) });
  const tools = await client.listTools();
  const isThere = ({ name }) => tools[`${name}_tool_0`] !== undefined;
  for (const { name } of servers.filter(isThere)) onListed(name);
  return {
    tools: Object.keys(tools).length,
    failed: servers.filter((server) => !isThere(server)).length,
    notified: () => notified,
    caller: (server, tool) => {
      const found = tools[`${server}_${tool}`];
      return (given) => found.execute(given, {});
    },
    close: () => client.disconnect(),
  };
}

function toEntry({ kind, command, args, url }) {
  return kind === 'http' ? { url: new URL(url) } : { command, args, stderr: 'ignore' };
}
