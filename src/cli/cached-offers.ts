/** What servers offered in earlier runs of the command. Starts nothing. */
import type { CachedCatalog } from '../catalog/cache-store.js';
import { isAllowed } from '../config/entry/tool-filter.js';
import { PACKAGE } from '../package.js';
import { toCatalogStore } from '../runtime/check-options.js';
import { clientCapabilities } from '../server-requests/handlers.js';
import { listsKey, targetHash } from '../servers/lists-key.js';
import { loadConfig } from '../servers/load-config.js';
import { needsTrust } from '../trust/trust-rules.js';
import { TrustedEntries } from '../trust/trusted-entries.js';
import { createFileTrustStore } from '../trust/trust-store.js';
import type { Flags } from './arguments/flags.js';
import type { Kind } from './arguments/tool-target.js';
import { sourcesOf } from './configured-servers.js';

export interface KnownServer {
  readonly name: string;
  /** Undefined if nothing is known. */
  readonly lists: Pick<CachedCatalog, 'tools' | 'resources' | 'prompts'> | undefined;
}

/** The tools or prompts of that name which servers had in earlier runs, as `server/name`. */
export async function earlierOffers(
  name: string,
  kind: Kind,
  flags: Pick<Flags, 'config' | 'add' | 'discover'>,
): Promise<readonly string[]> {
  const servers = await knownServers(flags, () => true).catch(() => []);
  return servers.flatMap(({ name: server, lists }) => {
    const list = kind === 'tool' ? lists?.tools : lists?.prompts;
    return list?.some((each) => each.name === name) === true ? [`${server}/${name}`] : [];
  });
}

/** The configured servers. Only the lists of `wanted` servers are read. */
export async function knownServers(
  flags: Pick<Flags, 'config' | 'add' | 'discover'>,
  wanted: (name: string) => boolean,
): Promise<readonly KnownServer[]> {
  const isTrusted = await new TrustedEntries(createFileTrustStore()).snapshot();
  const { servers } = await loadConfig({ ...sourcesOf(flags), isTrusted, cwd: process.cwd() });
  const store = toCatalogStore(undefined);
  const client = { clientInfo: PACKAGE, capabilities: clientCapabilities(undefined, undefined) };
  return Promise.all(
    servers.map(async (spec): Promise<KnownServer> => {
      const { name } = spec;
      if (!wanted(name) || (needsTrust(spec) && !isTrusted(spec))) return { name, lists: undefined };
      const kept = await store?.get(listsKey(targetHash(spec), client)).catch(() => undefined);
      if (kept === undefined) return { name, lists: undefined };
      const { tools: filter = {} } = spec.config;
      return { name, lists: { ...kept, tools: kept.tools.filter((tool) => isAllowed(tool.name, filter)) } };
    }),
  );
}
