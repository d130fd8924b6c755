/**
 * Lets a machine be restored in a state with a delay. XState restores no timer: the machine would wait there for ever.
 */
import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine, EventObject, Snapshot } from 'xstate';

/** Why a snapshot cannot be restored, as a sentence; undefined if it can. */
type WhyNot = (snapshot: Snapshot<unknown>) => string | undefined;

/**
 * The same machine: restored from a snapshot, it sets the timers of its states again, with their whole delays, when it
 * starts. `provide` keeps that.
 */
export function restorable<T extends AnyStateMachine>(machine: T, whyNot: WhyNot = () => undefined): T {
  const restored = new WeakMap<object, AnyActorScope>();
  const { provide, restoreSnapshot, start } = machine;
  const like: Pick<AnyStateMachine, 'provide' | 'restoreSnapshot' | 'start'> = {
    provide: (implementations) => restorable(provide.call(machine, implementations), whyNot),
    restoreSnapshot: (persisted, scope) => {
      const why = whyNot(persisted);
      if (why !== undefined) throw new Error(`'${machine.id}' cannot be restored: ${why}`);
      const snapshot = restoreSnapshot(persisted, scope) as AnyMachineSnapshot;
      restored.set(snapshot, scope);
      return snapshot;
    },
    start: (snapshot) => {
      start(snapshot);
      const scope = restored.get(snapshot);
      if (scope !== undefined && snapshot.status === 'active') setTimers(machine, snapshot, scope);
    },
  };
  return Object.assign(machine, like);
}

function setTimers(
  { implementations }: AnyStateMachine,
  { _nodes: nodes, context }: AnyMachineSnapshot,
  { self, system }: AnyActorScope,
): void {
  for (const { delay, eventType: type } of nodes.flatMap((node) => node.after)) {
    const named = typeof delay === 'string' ? (implementations.delays[delay] ?? Number(delay)) : delay;
    const event = { type: String(type) };
    const ms: unknown = typeof named === 'function' ? named({ context, event } as never, undefined) : named;
    system.scheduler.schedule(self, self, event as EventObject, Number(ms), event.type);
  }
}
