/** The phase of a troupe, read from the state of its manager. */
import type { StateValue } from 'xstate';
import type { TroupePhase } from './manager.events.js';

/** Reads the value of a snapshot of the manager chart, or of a log. */
export function phaseOf(value: StateValue): TroupePhase {
  const phase = typeof value === 'string' ? value : value['phase'];
  return (typeof phase === 'string' ? phase : Object.keys(phase ?? {})[0]) as TroupePhase;
}
