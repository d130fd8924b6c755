/** Lists the configured servers and their sources. Starts and expands nothing. */
import { TrustedEntries } from '../trust/trusted-entries.js';
import type { DroppedEntry } from '../config/files/drop-filtered.js';
import { shownConfig } from '../secrets/secrets.js';
import type { ServerSpec, Scope } from '../config/entry/server-spec.js';
import type { SourceReport } from '../config/files/sources.js';
import { needsTrust, toTrustRequest } from '../trust/trust-rules.js';
import type { ConfigProblem } from '../errors.js';
import type { TroupeOptions } from '../options.js';
import type { TrustRequest } from '../trust/trust-request.js';

/** Options of `discoverServers`. All but `cwd` are those of `createTroupe`. */
export interface DiscoverOptions extends Pick<
  TroupeOptions,
  'servers' | 'config' | 'discover' | 'trust' | 'trustStore'
> {
  /** Folder that relative file names start from. Default: the working directory. */
  readonly cwd?: string;
}

/** One configured server. Secrets in `config` are masked. */
export interface DiscoveredServer {
  /** Name in the configuration. */
  readonly server: string;
  /** The source that names it. */
  readonly source: string;
  /** Kind of the source: who controls it. */
  readonly scope: Scope;
  /** Sources with an entry of the same name that is not used. */
  readonly shadows: readonly string[];
  /** False if the entry is disabled. */
  readonly enabled: boolean;
  /** Whether it may be started without being trusted. */
  readonly trusted: boolean;
  /** What a person would have to trust before the entry is used; null if it is trusted. */
  readonly trustRequest: TrustRequest | null;
  /** The entry before its variables are expanded, with secrets masked. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** The configuration as a troupe would read it. No server is started. */
export interface Discovery {
  /** Servers with a usable entry, in order of precedence. */
  readonly servers: readonly DiscoveredServer[];
  /** Names of servers with an unusable entry; `problems` says why. */
  readonly refused: readonly string[];
  /** What is wrong in the configuration; empty if nothing is. */
  readonly problems: readonly ConfigProblem[];
  /** Every source that was read, in order of precedence. */
  readonly sources: readonly SourceReport[];
  /** Entries of the project that would replace or restrict entries of the same name if a person trusted them. */
  readonly heldBack: readonly DiscoveredServer[];
  /** Entries that the filter of `discover` left out, unchanged: secrets in them are not masked. */
  readonly dropped: readonly DroppedEntry[];
}

/**
 * Reads and merges the configuration as a troupe would, without starting a server. An unreadable source is
 * reported in `sources` and `problems`.
 *
 * @param options Where to look, as in `createTroupe`. Default: no source, so no servers.
 *
 * @throws {@link ConfigError} for an option that makes no sense.
 *
 * @example
 * ```ts
 * import { discoverServers } from 'mcp-troupe';
 *
 * const { servers, problems } = await discoverServers({ discover: true });
 * console.log(servers.map(({ server }) => server), problems);
 * ```
 */
export async function discoverServers(options: DiscoverOptions = {}): Promise<Discovery> {
  const { loadConfig } = await import('./load-config.js');
  const unread: ConfigProblem[] = [];
  const trustedEntries = new TrustedEntries(options.trustStore, (message) =>
    unread.push({ code: 'trust-store-unreadable', severity: 'warning', source: 'trustStore', message }),
  );
  const isTrusted = await trustedEntries.snapshot();
  const loaded = await loadConfig({ ...options, isTrusted, cwd: options.cwd ?? process.cwd() });
  const toServer = (spec: ServerSpec, isTrusted: boolean): DiscoveredServer => ({
    server: spec.name,
    source: spec.source,
    scope: spec.scope,
    shadows: spec.shadows,
    enabled: spec.config.enabled !== false,
    trusted: isTrusted,
    trustRequest: isTrusted ? null : toTrustRequest(spec),
    config: shownConfig(spec.config),
  });
  return {
    servers: loaded.servers.map((spec) =>
      toServer(spec, !needsTrust(spec, options.trust) || isTrusted(spec)),
    ),
    refused: loaded.refused.map(({ name }) => name),
    problems: [...loaded.problems, ...unread],
    sources: loaded.sources,
    heldBack: [...loaded.heldBack, ...loaded.uncounted].map((spec) => toServer(spec, false)),
    dropped: loaded.dropped,
  };
}
