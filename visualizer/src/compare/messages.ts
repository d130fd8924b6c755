/** The questions of the comparison, and their answers. */
import type { StateValue } from 'xstate';
import type { Difference } from '../state/difference.js';

export interface Point {
  readonly position: number;
  readonly seq: number;
  readonly at: number;
}

/** An entry that only one side has, or that differs. */
export interface ComparedEntry extends Point {
  /** Type of the event or the note. */
  readonly type: string;
  /** The state after it; null before the first. */
  readonly state: StateValue | null;
}

/** Two moments of one log. */
export interface MomentsView {
  readonly from: Point;
  readonly to: Point;
  /** Those with a difference, the first difference first. */
  readonly lanes: readonly LaneComparison[];
  /** Number of the others. */
  readonly equal: number;
}

export interface LaneComparison {
  readonly name: string;
  /** Null if it did not exist. */
  readonly states: readonly [before: StateValue | null, after: StateValue | null];
  /** Fields of its context. */
  readonly changes: readonly Difference[];
  /** What it received between the moments: the first of it. */
  readonly entries: readonly ComparedEntry[];
  readonly count: number;
}

/** Which part of a log is a run. */
export interface RunChoice {
  /** Another log, which the page was given. */
  readonly isOther: boolean;
  /** Only the start with this number of each connection; null for all. */
  readonly start: number | null;
}

/** A log, as far as runs can be chosen in it. */
export interface RunsView {
  readonly names: readonly string[];
  /** How often the connection that was started most often was started. */
  readonly starts: number;
  readonly length: number;
  /** Why the rest is not read; null if all of it is. */
  readonly problem: string | null;
}

export interface RunComparison {
  /** Those with a difference, the first difference first. */
  readonly connections: readonly ConnectionComparison[];
  /** Names of the others. */
  readonly equal: readonly string[];
}

export interface ConnectionComparison {
  readonly name: string;
  /** The number of its entries in each run; 0 if it does not have the connection. */
  readonly counts: readonly [a: number, b: number];
  /** The last state in each run; null if it does not have the connection. */
  readonly states: readonly [a: StateValue | null, b: StateValue | null];
  /** The first of them. */
  readonly differences: readonly RunDifference[];
  readonly count: number;
}

/** An entry that only one run has, or that both have with other data. */
export interface RunDifference {
  readonly a: ComparedEntry | null;
  readonly b: ComparedEntry | null;
  /** What is new in the data of the event and in the context. */
  readonly changes: readonly Difference[];
}
