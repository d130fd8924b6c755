/** What is configured where, without starting or expanding anything. */
import { loadConfig } from './config/load.js';
import { maskConfig } from './config/mask.js';
import type { SourceReport } from './config/sources.js';
import type { ConfigProblem } from './errors.js';
import type { TroupeOptions } from './options.js';

export interface DiscoverOptions extends Pick<TroupeOptions, 'servers' | 'config'> {
  /** Folder that relative file names start from. Default: the working directory. */
  readonly cwd?: string;
}

/** One configured server. Secrets in `config` are masked. */
export interface DiscoveredServer {
  readonly name: string;
  /** The source that names it. */
  readonly source: string;
  /** Sources whose entry of the same name is not used. */
  readonly shadows: readonly string[];
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface Discovery {
  readonly servers: readonly DiscoveredServer[];
  /** Names of servers whose entry cannot be used; `problems` says why. */
  readonly refused: readonly string[];
  readonly problems: readonly ConfigProblem[];
  readonly sources: readonly SourceReport[];
}

/** Loads and merges the given sources. Never rejects for an unreadable one: `sources` and `problems` tell. */
export async function discoverServers(options: DiscoverOptions = {}): Promise<Discovery> {
  const loaded = await loadConfig({ ...options, cwd: options.cwd ?? process.cwd() });
  return {
    servers: loaded.servers.map(({ name, source, shadows, config }) => ({
      name,
      source,
      shadows,
      enabled: config.enabled !== false,
      config: maskConfig(config),
    })),
    refused: loaded.refused.map(({ name }) => name),
    problems: loaded.problems,
    sources: loaded.sources,
  };
}
