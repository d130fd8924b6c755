/** What one process has recorded, in a book: what is counted for each by itself. */
import type { LogHeader } from '../../../src/event-log/format/entry.js';
import { MonotonicTime } from '../../../src/event-log/format/monotonic-time.js';
import type { Fold } from '../../../src/event-log/replay/fold.js';
import { Numbers } from './numbers.js';

/** A fold that has applied the entries of one recording up to a position. */
export interface Cursor {
  readonly fold: Fold;
  /** Position of the snapshot that it began with. */
  readonly from: number;
  at: number;
}

export class BookRun {
  header: LogHeader | undefined;
  /** Number of the next entry, unless some are missing. */
  nextSeq = 1;
  wasSnapshot = false;
  /** Positions of snapshots. */
  readonly snapshots = new Numbers();
  readonly time = new MonotonicTime();
  /** By the number of a place in the scanner. */
  readonly places: { readonly lane: number; readonly value: number }[] = [];
  cursors: Cursor[] = [];

  /** `label` names the computer and the process; undefined if the book has only one recording so far. */
  constructor(
    readonly number: number,
    readonly label: string | undefined,
  ) {}
}
