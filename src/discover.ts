/** What is configured where, without starting or expanding anything. */
import { Approvals } from './approvals.js';
import type { DroppedEntry } from './config/drop-filtered.js';
import { maskConfig } from './config/mask.js';
import type { ServerSpec } from './config/merge.js';
import type { Scope, SourceReport } from './config/sources.js';
import { needsTrust, toTrustRequest } from './config/trust.js';
import type { ConfigProblem } from './errors.js';
import type { TroupeOptions, TrustRequest } from './options.js';

export interface DiscoverOptions extends Pick<
  TroupeOptions,
  'servers' | 'config' | 'discover' | 'trust' | 'approvals'
> {
  /** Folder that relative file names start from. Default: the working directory. */
  readonly cwd?: string;
}

/** One configured server. Secrets in `config` are masked. */
export interface DiscoveredServer {
  readonly name: string;
  /** The source that names it. */
  readonly source: string;
  readonly scope: Scope;
  /** Sources whose entry of the same name is not used. */
  readonly shadows: readonly string[];
  readonly enabled: boolean;
  /** It may be started without asking anybody. */
  readonly trusted: boolean;
  /** What somebody would have to approve before it is used; null where it is trusted. */
  readonly trustRequest: TrustRequest | null;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface Discovery {
  readonly servers: readonly DiscoveredServer[];
  /** Names of servers whose entry cannot be used; `problems` says why. */
  readonly refused: readonly string[];
  readonly problems: readonly ConfigProblem[];
  readonly sources: readonly SourceReport[];
  /** Entries of the project that would be used instead of those of the same name, if somebody approved them. */
  readonly heldBack: readonly DiscoveredServer[];
  /** What the filter of `discover` left out, as it is written: secrets in it are not masked. */
  readonly dropped: readonly DroppedEntry[];
}

/** Loads and merges the given sources. Never rejects for an unreadable one: `sources` and `problems` tell. */
export async function discoverServers(options: DiscoverOptions = {}): Promise<Discovery> {
  const { loadConfig } = await import('./config/load.js');
  const unread: ConfigProblem[] = [];
  const approvals = new Approvals(options.approvals, (message) =>
    unread.push({ severity: 'warning', source: 'approvals', message }),
  );
  const isApproved = await approvals.snapshot();
  const loaded = await loadConfig({ ...options, isApproved, cwd: options.cwd ?? process.cwd() });
  const toServer = (spec: ServerSpec, isTrusted: boolean): DiscoveredServer => ({
    name: spec.name,
    source: spec.source,
    scope: spec.scope,
    shadows: spec.shadows,
    enabled: spec.config.enabled !== false,
    trusted: isTrusted,
    trustRequest: isTrusted ? null : toTrustRequest(spec),
    config: maskConfig(spec.config),
  });
  return {
    servers: loaded.servers.map((spec) =>
      toServer(spec, !needsTrust(spec, options.trust) || isApproved(spec)),
    ),
    refused: loaded.refused.map(({ name }) => name),
    problems: [...loaded.problems, ...unread],
    sources: loaded.sources,
    heldBack: loaded.heldBack.map((spec) => toServer(spec, false)),
    dropped: loaded.dropped,
  };
}
