/** Troupe with its defaults and an observer of its events; only the cache of tools is off. */
import { pathToFileURL } from 'node:url';
import { published } from '../from-dist.mjs';

export const load = (_kind, dist) => import(pathToFileURL(published('src/index.js', dist)));

export async function open({ createTroupe }, servers, { onListed = () => {}, largest, options } = {}) {
  const entries = Object.fromEntries(servers.map((server) => [server.name, toEntry(server)]));
  const limits = largest === undefined ? {} : { limits: { stdioMessageBytes: largest } };
  const troupe = createTroupe({
    servers: entries,
    cache: false,
    startGateMs: 200_000,
    ...limits,
    ...options,
  });
  let notified = 0;
  troupe.events$.subscribe((event) => {
    if (event.type === 'connection.ready') onListed(event.server);
    else if (event.type === 'server.log') notified += 1;
  });
  const { ready } = await troupe.start();
  return {
    troupe,
    tools: troupe.tools.length,
    failed: servers.length - ready.length,
    notified: () => notified,
    caller: (server, tool) => {
      const name = `mcp__${server}__${tool}`;
      return (given) => troupe.callTool(name, given);
    },
    close: () => troupe.close(),
  };
}

function toEntry({ kind, command, args, url, server, era }) {
  if (kind === 'stdio') return { command, args };
  if (kind === 'http') return { type: 'http', url };
  return { type: 'in-process', server, ...(era === 'new' && { protocol: 'new' }) };
}
