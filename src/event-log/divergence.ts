/** Where a replay went another way than the log, in words and as data. */
import type { StateValue } from 'xstate';
import { statePath } from '../lifecycle/state-path.js';
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

/** Whether two values are the same as JSON. */
export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
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
