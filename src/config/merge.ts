/**
 * Brings the servers of several sources together: one per name.
 *
 * M1. The earlier source wins, except that a project's file, which anybody who can write to the repository controls,
 *     never takes a name away from the host, a given file or the user.
 * M2. A refused entry still claims its name: what somebody replaced does not come back because the
 *     replacement has a mistake in it.
 */
import type { ConfigProblem } from '../errors.js';
import type { ServerConfig } from '../options.js';
import type { RawFailure } from '../transports/session-transport.js';
import { entryHash } from './entry-hash.js';
import { describeProblem, isError } from './problem.js';
import { sourceName, type Scope, type Source } from './sources.js';

interface Claim {
  readonly name: string;
  /** The source that names it, as a person would recognise it. */
  readonly source: string;
  readonly scope: Scope;
  /** Sources whose entry of the same name is not used. */
  readonly shadows: readonly string[];
}

/** One server that may be started. */
export interface ServerSpec extends Claim {
  /** Absolute path of the folder that relative paths of the entry start from. */
  readonly baseDir: string;
  /** Validated, but unexpanded: it holds names of variables, no values. */
  readonly config: ServerConfig;
  /** Fingerprint of the entry; see `entryHash`. */
  readonly hash: string;
}

/** A server that cannot be started until somebody corrects its entry. */
export interface RefusedServer extends Claim {
  readonly failure: RawFailure;
}

/** What one source names. */
export interface SourceEntries {
  readonly source: Source;
  readonly baseDir: string;
  readonly entries: ReadonlyMap<string, ServerConfig>;
  readonly refused: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

export interface MergedServers {
  readonly servers: readonly ServerSpec[];
  readonly refused: readonly RefusedServer[];
}

export function mergeSources(sources: readonly SourceEntries[]): MergedServers {
  const trusted = sources.filter(({ source }) => source.scope !== 'project');
  const found = sources.filter(({ source }) => source.scope === 'project');
  const claimants = new Map<string, SourceEntries[]>();
  for (const from of [...trusted, ...found]) {
    for (const name of [...from.entries.keys(), ...from.refused]) {
      claimants.set(name, [...(claimants.get(name) ?? []), from]);
    }
  }
  const servers: ServerSpec[] = [];
  const refused: RefusedServer[] = [];
  for (const [name, [winner, ...losers]] of claimants) {
    if (winner === undefined) continue;
    const { source, baseDir, entries, problems } = winner;
    const shadows = losers.map((loser) => sourceName(loser.source));
    const claim = { name, source: sourceName(source), scope: source.scope, shadows };
    const config = entries.get(name);
    if (config === undefined) refused.push({ ...claim, failure: toFailure(name, problems) });
    else servers.push({ ...claim, baseDir, config, hash: entryHash(config) });
  }
  return { servers, refused };
}

function toFailure(server: string, problems: readonly ConfigProblem[]): RawFailure {
  const reasons = problems.filter((problem) => problem.server === server && isError(problem));
  return { code: 'config-invalid', message: reasons.map(describeProblem).join('; ') };
}
