/** What `reload()` returns, and the sentence that reports a reload. */
import type { Failure } from '../../machines/policy/failure.js';
import type { ConfigDiff } from '../config/diff.js';
import type { LoadedConfig } from './load-config.js';
import type { ServerRow } from '../config/entry/server-spec.js';
import type { SourceReport } from '../config/files/sources.js';
import type { ConfigProblem } from '../errors.js';

/** The result of a reload: names of servers, each in one of the first four lists. */
export interface ReloadReport {
  /** Servers whose names are new. */
  readonly added: readonly string[];
  /** Servers that no source names any more. Their connections are ended. */
  readonly removed: readonly string[];
  /** Servers with entries that changed in meaning. If only settings changed, the server kept its session. */
  readonly changed: readonly string[];
  /** Servers that run as before, including those from a source that could not be read. */
  readonly unchanged: readonly string[];
  /**
   * Servers with an unusable entry; `problems` says why. A server with a former entry continues with that.
   */
  readonly refused: readonly string[];
  /**
   * Servers from `changed` that keep a session of the former entry, since none could be opened for the new
   * one; `problems` says why. The new entry is tried when that session ends, by the next reload that changes
   * it, or by `restart()`.
   */
  readonly outdated: readonly string[];
  /** What is wrong in the configuration; empty if nothing is. */
  readonly problems: readonly ConfigProblem[];
  /** Every source, in order of precedence. If one is not `ok`, its servers stay as they were. */
  readonly sources: readonly SourceReport[];
}

/** The result of a reading, and the differences that were applied. */
export interface AppliedDiff {
  readonly loaded: LoadedConfig;
  readonly diff: ConfigDiff;
}

export interface Outdated {
  readonly row: ServerRow;
  readonly failure: Failure;
}

export function toReloadReport({ loaded, diff }: AppliedDiff, outdated: readonly Outdated[]): ReloadReport {
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
  const message = `does not work, so the session of the former entry continues: ${failure.message}`;
  return { code: 'entry-outdated', source: row.source, server: row.name, message };
}

/** Undefined if nothing has changed. */
export function reloadInWords({ added, removed, changed }: ConfigDiff): string | undefined {
  const after = changed.map((change) => change.after);
  const parts = [...inWords('added', added), ...inWords('removed', removed), ...inWords('changed', after)];
  return parts.length === 0 ? undefined : `The configuration has changed: ${parts.join('; ')}.`;
}

function inWords(what: string, rows: readonly ServerRow[]): string[] {
  return rows.length === 0 ? [] : [`${what} ${namesOf(rows).join(', ')}`];
}

function namesOf(rows: readonly { readonly name: string }[]): string[] {
  return rows.map(({ name }) => name);
}
