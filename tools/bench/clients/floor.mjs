/** The floor client with the interface of the scenarios. */
import { openEach } from './open-each.mjs';

export const load = () => import('../floor-client.mjs');

export function open(library, servers, { onListed = () => {} } = {}) {
  const openers = { stdio: library.openProcess, http: library.openHttp, memory: library.openInProcess };
  return openEach(servers, async (server) => {
    const client = await openers[server.kind](server);
    onListed(server.name);
    return {
      tools: client.tools.length,
      notified: () => client.notified,
      caller: (tool) => (given) => client.call(tool, given),
      close: () => client.close(),
    };
  });
}
