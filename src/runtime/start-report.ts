/** What `start()` and `settled()` report. */
import { hasTag } from '../../machines/connection/connection.states.js';
import type { Failure } from '../../machines/policy/failure.js';
import type { DroppedEntry } from '../config/files/drop-filtered.js';
import type { SourceReport } from '../config/files/sources.js';
import type { ServerStatus } from '../lifecycle/status.js';

/**
 * What became of the servers: each that was started is in one of the first three lists. It says what is so when it is
 * made, and does not depend on what an earlier run has cached.
 */
export interface StartReport {
  /** Names of the servers whose tools can be called. */
  readonly ready: readonly string[];
  /** Servers that were given up, each with the cause. Their tools of earlier runs are not offered. */
  readonly failed: readonly {
    /** Name of the server. */
    readonly server: string;
    /** Why its last attempt failed. */
    readonly failure: Failure;
  }[];
  /** Servers that are neither ready nor given up: still trying, or waiting for a person. */
  readonly pending: readonly {
    /** Name of the server. */
    readonly server: string;
    /** Why its last attempt failed; null if none has failed. */
    readonly failure: Failure | null;
  }[];
  /** Every configuration source, in order of precedence. */
  readonly sources: readonly SourceReport[];
  /** Discovered entries that the filter of `discover` left out, unchanged: secrets in them are not masked. */
  readonly dropped: readonly DroppedEntry[];
}

/** Servers that are dormant or stopped (disabled, for instance) are in none of the lists: nothing is under way. */
export function toStartReport(
  rows: readonly ServerStatus[],
  { sources, dropped }: Pick<StartReport, 'sources' | 'dropped'>,
): StartReport {
  const ready: string[] = [];
  const failed: { server: string; failure: Failure }[] = [];
  const pending: { server: string; failure: Failure | null }[] = [];
  for (const row of rows) {
    const { server, state, error } = row;
    if (state === 'ready') ready.push(server);
    else if (state === 'failed' && error !== null) failed.push({ server, failure: error });
    else if (state !== 'stopped' && !hasTag(row, 'dormant')) pending.push({ server, failure: error });
  }
  return { ready, failed, pending, sources, dropped };
}
