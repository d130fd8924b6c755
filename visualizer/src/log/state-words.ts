/** The words for a state: the command line's for a connection, the chart's for any other machine. */
import type { StateValue } from 'xstate';
import { CONNECTION_STATES, type PublicState } from '../../../machines/connection/connection.states.js';
import { stateInWords } from '../../../src/lifecycle/state-in-words.js';
import { namesOf } from '../words/names.js';
import { chartOf, isConnectionLane } from './lane-names.js';

/** For a state badge. */
export function stateWords(lane: string, present: PublicState, isRaw = false): string {
  const { state, substate } = present;
  // A log of another version may name states that this version does not have.
  if (!isRaw && isConnectionLane(lane) && CONNECTION_STATES.includes(state)) return stateInWords(present);
  return substate === '' ? state : `${state}.${substate}`;
}

/** Everything that is active, for a state as it is in a log; nowhere before the first. */
export function stateValueWords(lane: string, value: StateValue | null | undefined, isRaw: boolean): string {
  if (value === null || value === undefined) return 'nowhere';
  return namesOf(chartOf(lane), isRaw).stateValue(value);
}
