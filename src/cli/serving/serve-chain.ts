/**
 * Detects that a gateway would start itself. A gateway whose own entry is among the servers that it finds would start a copy of
 * itself, which starts another, until the machine runs out of memory.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { ConfigError } from '../../errors.js';
import { canonicalJson } from '../../json/write-json.js';
import { homeFolder } from '../../storage/folders.js';
import { SERVE_CHAIN_VARIABLE } from '../../transports/stdio/child-environment.js';
import type { Flags } from '../arguments/flags.js';
import { sourcesOf } from '../configured-servers.js';

type Variables = Record<string, string | undefined>;

const STARTS_ITSELF =
  'a gateway with the same servers started this one: its own entry is among them, so it would start itself endlessly. Give it --config FILE with a file that does not contain it';

/**
 * Adds this gateway to the environment of its children until the returned function is called. Throws a `ConfigError` if
 * a gateway of the same servers has started this one.
 */
export function joinServeChain(
  flags: Pick<Flags, 'config' | 'add' | 'discover'>,
  env: Variables,
  cwd: string,
): () => void {
  const before = env[SERVE_CHAIN_VARIABLE];
  const chain = before?.split(' ') ?? [];
  const own = linkOf(flags, cwd);
  if (chain.includes(own)) throw new ConfigError(STARTS_ITSELF);
  env[SERVE_CHAIN_VARIABLE] = [...chain, own].join(' ');
  return () => {
    if (before === undefined) delete env[SERVE_CHAIN_VARIABLE];
    else env[SERVE_CHAIN_VARIABLE] = before;
  };
}

/** Equal for gateways that read the same files. */
function linkOf(flags: Pick<Flags, 'config' | 'add' | 'discover'>, cwd: string): string {
  const { servers, discover } = sourcesOf(flags);
  const files = flags.config.map((file) => resolve(cwd, file));
  // An added server starts the gateway again, whatever else is found.
  const found = discover && flags.add.length === 0 ? { cwd, home: homeFolder() ?? '' } : {};
  const sources = canonicalJson({ files, servers, ...found });
  return createHash('sha256').update(sources).digest('hex').slice(0, 16);
}
