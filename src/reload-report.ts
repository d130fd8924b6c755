/** What `reload()` gives back. */
import type { Failure } from '../machines/policy/failure.js';
import type { ConfigDiff } from './config/diff.js';
import type { LoadedConfig } from './config/load.js';
import type { RefusedServer, ServerSpec } from './config/merge.js';
import type { SourceReport } from './config/sources.js';
import type { ConfigProblem } from './errors.js';

/** What a reload came to: names of servers, each in one of the first four lists. */
export interface ReloadReport {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Their entries mean something else than before. Those of which only settings changed kept their session. */
  readonly changed: readonly string[];
  /** They run as before, also where their source could not be read. */
  readonly unchanged: readonly string[];
  /** Their entry cannot be used, and `problems` says why. One that had another entry before runs on with that. */
  readonly refused: readonly string[];
  /**
   * Of `changed`, those that run on by the entry before, since no session by the new one could be made; `problems` says
   * why. The new one is tried when that session ends, by the next reload that changes it, or by `restart()`.
   */
  readonly outdated: readonly string[];
  readonly problems: readonly ConfigProblem[];
  /** Every source that was asked, in order of precedence. The servers of one that is not `ok` are left as they were. */
  readonly sources: readonly SourceReport[];
}

export interface Outdated {
  readonly row: ServerSpec | RefusedServer;
  readonly failure: Failure;
}

export function toReloadReport(
  loaded: LoadedConfig,
  diff: ConfigDiff,
  outdated: readonly Outdated[],
): ReloadReport {
  return {
    added: namesOf(diff.added),
    removed: namesOf(diff.removed),
    changed: namesOf(diff.changed.map(({ after }) => after)),
    unchanged: namesOf(diff.unchanged),
    refused: namesOf(loaded.refused),
    outdated: namesOf(outdated.map(({ row }) => row)),
    problems: [...loaded.problems, ...outdated.map(toProblem)],
    sources: loaded.sources,
  };
}

function toProblem({ row, failure }: Outdated): ConfigProblem {
  const message = `does not work as it is now, so the session of the entry before goes on: ${failure.message}`;
  return { source: row.source, server: row.name, message };
}

export function namesOf(rows: readonly { readonly name: string }[]): string[] {
  return rows.map(({ name }) => name);
}
