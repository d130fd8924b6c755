/** What the person compares. */
import type { RunChoice } from './messages.js';

export interface Comparison {
  readonly kind: 'moments' | 'runs';
  /** Positions; null for the first entry, and for the moment that is shown. */
  readonly from: number | null;
  readonly to: number | null;
  readonly a: RunChoice;
  readonly b: RunChoice;
  /** Name of the other log; null if there is none. */
  readonly other: string | null;
}

const WHOLE: RunChoice = { isOther: false, start: null };

export const FIRST_COMPARISON: Comparison = {
  kind: 'moments',
  from: null,
  to: null,
  a: WHOLE,
  b: WHOLE,
  other: null,
};

/** The same moments after this many of the oldest entries were dropped. */
export function movedBy(comparison: Comparison, gone: number): Comparison {
  const moved = (position: number | null): number | null =>
    position === null ? null : Math.max(0, position - gone);
  return { ...comparison, from: moved(comparison.from), to: moved(comparison.to) };
}
