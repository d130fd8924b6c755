import type { Outcome } from './outcome.mjs';

export interface Call {
  readonly id: string;
  readonly client: string;
  readonly server: string;
  /** Milliseconds. */
  readonly startedAt: number;
  readonly settledAt?: number;
  readonly outcome?: Outcome['outcome'];
  readonly about?: string;
}

export interface Round {
  readonly since: number;
  readonly until: number;
  /** Sessions that clients had to begin anew. */
  readonly lost: number;
}

export interface Terms {
  readonly mayFail: (call: Call) => boolean;
  readonly mayGiveUp: (call: Call) => boolean;
  readonly losesSessions: boolean;
}

export function judgeCalls(
  calls: readonly Call[],
  journal: readonly string[],
  limitMs: number,
): readonly string[];
export function judgeRound(
  calls: readonly Call[],
  round: Round,
  terms: Terms,
): Readonly<Record<Outcome['outcome'], number>> & {
  readonly problems: readonly string[];
  readonly calls: number;
  readonly lost: number;
  readonly pausesMs: Readonly<Record<string, readonly number[]>>;
};
