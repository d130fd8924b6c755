/** mcp-use: one client of many servers, which opens them one after another. */
export const load = () => import('mcp-use/client');

export async function open({ MCPClient }, servers, { onListed = () => {} } = {}) {
  const entries = servers.map(({ name, kind, command, args, url }) => [
    name,
    kind === 'http' ? { url } : { command, args },
  ]);
  const client = MCPClient.fromDict({ mcpServers: Object.fromEntries(entries) });
  const sessions = await client.createAllSessions();
  let notified = 0;
  let tools = 0;
  for (const [name, session] of Object.entries(sessions)) {
    session.on('notification', () => {
      notified += 1;
    });
    tools += (await session.listTools()).length;
    onListed(name);
  }
  return {
    tools,
    failed: servers.length - Object.keys(sessions).length,
    notified: () => notified,
    caller: (server, tool) => (given) => sessions[server].callTool(tool, given),
    close: () => client.closeAllSessions(),
  };
}
