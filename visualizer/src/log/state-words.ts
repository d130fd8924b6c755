/** The text of a state badge: words for a connection, the path for an auxiliary machine and for an unknown state. */
import { CONNECTION_STATES, type PublicState } from '../../../machines/connection/connection.states.js';
import { stateInWords } from '../../../src/lifecycle/state-in-words.js';
import { isConnectionLane } from './lane-names.js';

export function stateWords(lane: string, present: PublicState): string {
  const { state, substate } = present;
  // A log of another version may name states that this version does not have.
  if (isConnectionLane(lane) && CONNECTION_STATES.includes(state)) return stateInWords(present);
  return substate === '' ? state : `${state} ${substate}`;
}
