/** What a start came to. */
import type { Failure } from '../machines/policy/failure.js';
import type { DroppedEntry } from './config/drop-filtered.js';
import type { SourceReport } from './config/sources.js';
import type { ServerStatus } from './lifecycle/status.js';

export interface StartReport {
  readonly ready: readonly string[];
  readonly failed: readonly { readonly name: string; readonly failure: Failure }[];
  /** Neither ready nor failed yet: still trying, or waiting for a person. */
  readonly pending: readonly string[];
  readonly sources: readonly SourceReport[];
  /** Discovered entries that the filter of `discover` left out, as they are written: secrets in them are not masked. */
  readonly dropped: readonly DroppedEntry[];
}

/** Servers that are stopped, disabled ones among them, are in none of the lists. */
export function toStartReport(
  rows: readonly ServerStatus[],
  { sources, dropped }: Pick<StartReport, 'sources' | 'dropped'>,
): StartReport {
  const ready: string[] = [];
  const failed: { name: string; failure: Failure }[] = [];
  const pending: string[] = [];
  for (const { name, state, error } of rows) {
    if (state === 'ready') ready.push(name);
    else if (state === 'failed' && error !== null) failed.push({ name, failure: error });
    else if (state !== 'stopped') pending.push(name);
  }
  return { ready, failed, pending, sources, dropped };
}
