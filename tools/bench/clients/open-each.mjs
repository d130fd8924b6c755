/**
 * Opens all servers with a library that has one client per server, and combines the open clients to one handle for the
 * scenarios.
 *
 * A handle: `tools` (their number), `failed` (number of servers), `notified()` (number of notifications that the host has
 * received), `caller(server, tool)` (a function of the arguments), `close()`.
 */
export async function openEach(servers, openOne) {
  const settled = await Promise.allSettled(servers.map(openOne));
  const clients = new Map();
  settled.forEach(({ status, value }, index) => {
    if (status === 'fulfilled') clients.set(servers[index].name, value);
  });
  const all = [...clients.values()];
  return {
    tools: all.reduce((sum, { tools }) => sum + tools, 0),
    failed: servers.length - all.length,
    notified: () => all.reduce((sum, { notified }) => sum + (notified?.() ?? 0), 0),
    caller: (server, tool) => clients.get(server).caller(tool),
    close: () => Promise.all(all.map((client) => client.close())),
  };
}
