/**
 * Would a machine obey this event now, and if not, why? The one place that looks into a snapshot's nodes.
 *
 * Ask only while no actor is processing: inside an action the answer is about the state before.
 */
import type { AnyMachineSnapshot, EventObject } from 'xstate';

/**
 * - `accepted`: a transition would be taken.
 * - `unhandled`: nothing that is active knows the event.
 * - `guarded`: something active knows it, and every guard says no.
 * - `ignored`: it asks for what is already so; it is allowed and changes nothing.
 * - `stopped`: the actor has ended.
 */
export type TransitionVerdict = 'accepted' | 'unhandled' | 'guarded' | 'ignored' | 'stopped';

export function verdict(snapshot: AnyMachineSnapshot, event: EventObject): TransitionVerdict {
  if (snapshot.status !== 'active') return 'stopped';
  const chosen = snapshot.machine.getTransitionData(snapshot, event);
  if (chosen.length > 0) {
    const changes = chosen.some(
      (transition) => transition.target !== undefined || transition.actions.length > 0,
    );
    return changes ? 'accepted' : 'ignored';
  }
  return snapshot._nodes.some((node) => node.transitions.has(event.type)) ? 'guarded' : 'unhandled';
}

/** Those of the given events that would be accepted now. */
export function acceptedOf<T extends EventObject>(snapshot: AnyMachineSnapshot, events: readonly T[]): T[] {
  return events.filter((event) => verdict(snapshot, event) === 'accepted');
}
