/** Where a replay went another way than the log, in words and as data. */
import type { StateValue } from 'xstate';
import { statePath } from '../lifecycle/state-path.js';
import type { JsonObject } from './entry.js';
import type { Standing } from './folded-actor.js';

/** Which of the two replays parted from the log. */
export type ReplayMethod = 'rerun' | 'fold' | 'both';

export interface Divergence {
  /** Number of the entry. */
  readonly entry: number;
  /** Address of the actor. */
  readonly actor: string;
  /** Type of the event that the entry is about; null for a snapshot and a note. */
  readonly event: string | null;
  readonly method: ReplayMethod;
  /** The state that the log tells; null where it is not about a state. */
  readonly expected: StateValue | null;
  /** The state that the replay came to. */
  readonly found: StateValue | null;
  /** Fields of the context that differ, where the log holds a context to compare with. */
  readonly context: readonly ContextDifference[];
  /** One sentence. */
  readonly message: string;
}

export interface ContextDifference {
  readonly field: string;
  readonly expected: unknown;
  readonly found: unknown;
}

/** Whether two values are the same as JSON, in whatever order their fields are. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Number.isNaN(a) && Number.isNaN(b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as JsonObject, b as JsonObject];
  for (const name of Object.keys(left)) if (!isSame(left[name], right[name])) return false;
  for (const name of Object.keys(right))
    if (right[name] !== undefined && left[name] === undefined) return false;
  return true;
}

/** Whether one state is the other as far as it goes: a newer chart may have more regions, or more states within one. */
export function isWithin(expected: StateValue, found: StateValue): boolean {
  if (typeof found === 'string') return expected === found;
  const regions = typeof expected === 'string' ? { [expected]: undefined } : expected;
  return Object.entries(regions).every(([name, below]) => {
    const there = found[name];
    return there !== undefined && (below === undefined || isWithin(below, there));
  });
}

export function contextDifferences(
  expected: Standing['context'],
  found: Standing['context'],
): readonly ContextDifference[] {
  const fields = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...fields]
    .filter((field) => !isSame(expected[field], found[field]))
    .map((field) => ({ field, expected: expected[field], found: found[field] }));
}

/** A state as people read it: `ready.resting+current`. */
export function stateText(state: StateValue | null | undefined): string {
  if (state === null || state === undefined) return 'nowhere';
  const { state: top, substate } = statePath(state);
  return substate === '' ? top : `${top}.${substate}`;
}
