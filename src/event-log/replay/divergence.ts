/** Differences between a replay and the log, in words and as data. */
import type { StateValue } from 'xstate';
import { statePath } from '../../../machines/connection/public-state.js';
import { isSameJson } from '../../json/json-object.js';
import type { FoldedState } from './folded-actor.js';

/** Which of the two replays differs from the log. */
export type ReplayMethod = 'rerun' | 'fold' | 'both';

/** A difference between the log and the replay. */
export interface Divergence {
  /** Number (`seq`) of the entry at which they differ. */
  readonly entry: number;
  /** Address of the machine. */
  readonly actor: string;
  /** Type of the event in the entry; null for a snapshot or a note. */
  readonly event: string | null;
  /** The replay that differs: the actors that were run again, the fold, or both. */
  readonly method: ReplayMethod;
  /** The state in the log; null if the entry is not about a state. */
  readonly expected: StateValue | null;
  /** The state of the replay; null if the entry is not about a state. */
  readonly found: StateValue | null;
  /** Fields of the context that differ; empty if the log holds no context to compare. */
  readonly context: readonly ContextDifference[];
  /**
   * Number (`seq`) of the entry of an earlier divergence that this one may follow from: one of a machine that took part in
   * the same step. Null if the machine diverged by itself.
   */
  readonly cause: number | null;
  /** The difference in one sentence, for people. */
  readonly message: string;
}

/** A field of a context that differs between the log and the replay. */
export interface ContextDifference {
  /** Name of the field. */
  readonly field: string;
  /** Value in the log; undefined if the log does not have the field. */
  readonly expected: unknown;
  /** Value in the replay; undefined if the replay does not have the field. */
  readonly found: unknown;
}

/** Whether states of two charts correspond: by their path, or as far as the older one goes. */
export function isAlike(expected: StateValue, found: StateValue): boolean {
  return isWithin(expected, found) || statePath(expected) === statePath(found);
}

/** A newer chart may have more regions, or more states within one. */
function isWithin(expected: StateValue, found: StateValue): boolean {
  if (typeof found === 'string') return expected === found;
  const regions = typeof expected === 'string' ? { [expected]: undefined } : expected;
  return Object.entries(regions).every(([name, below]) => {
    const there = Object.hasOwn(found, name) ? found[name] : undefined;
    return there !== undefined && (below === undefined || isWithin(below, there));
  });
}

export function contextDifferences(
  expected: FoldedState['context'],
  found: FoldedState['context'],
): readonly ContextDifference[] {
  const fields = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...fields]
    .filter((field) => !isSameJson(expected[field], found[field]))
    .map((field) => ({ field, expected: expected[field], found: found[field] }));
}

/** A state for people: `ready.resting+current`; if the whole machine is parallel, each region with its name. */
export function stateText(state: StateValue | null | undefined): string {
  return state === null || state === undefined ? 'nowhere' : statePath(state);
}
