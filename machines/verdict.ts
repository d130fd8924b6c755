/**
 * Whether a machine would accept an event now, and if not, why. Only this file reads the nodes of a snapshot.
 *
 * Call it only while no actor is processing: inside an action the answer is about the state before.
 */
import type { AnyMachineSnapshot, EventObject } from 'xstate';

/**
 * - `accepted`: a transition would be taken.
 * - `unhandled`: no active state has a transition for the event.
 * - `guarded`: an active state has a transition for it, and every guard says no.
 * - `ignored`: the event is allowed and changes nothing: what it asks for is already the case.
 * - `stopped`: the actor has ended.
 */
export type TransitionVerdict = 'accepted' | 'unhandled' | 'guarded' | 'ignored' | 'stopped';

/**
 * Whether a machine would accept an event in that snapshot, and if not, why. Call it only while the actor is
 * at rest.
 *
 * @param snapshot The present snapshot of an actor of any machine.
 * @param event The event that would be sent, with the fields that guards read.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { managerMachine, verdict } from 'mcp-troupe/machines';
 *
 * const input = {
 *   startSlots: 4,
 *   slotHoldMs: 10_000,
 *   startGateMs: 10_000,
 *   retryBurst: 20,
 *   retryEveryMs: 50,
 * };
 * const snapshot = createActor(managerMachine, { input }).getSnapshot();
 * console.log(verdict(snapshot, { type: 'manager.stop' }));
 * ```
 */
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

/**
 * The given events that the machine would accept in that snapshot.
 *
 * @typeParam T Type of the events.
 * @param snapshot The present snapshot of an actor of any machine.
 * @param events The events to try; the result has the same order.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { managerMachine, acceptedOf } from 'mcp-troupe/machines';
 *
 * const input = {
 *   startSlots: 4,
 *   slotHoldMs: 10_000,
 *   startGateMs: 10_000,
 *   retryBurst: 20,
 *   retryEveryMs: 50,
 * };
 * const snapshot = createActor(managerMachine, { input }).getSnapshot();
 * console.log(acceptedOf(snapshot, [{ type: 'manager.stop' }, { type: 'manager.start' }]));
 * ```
 */
export function acceptedOf<T extends EventObject>(snapshot: AnyMachineSnapshot, events: readonly T[]): T[] {
  return events.filter((event) => verdict(snapshot, event) === 'accepted');
}
