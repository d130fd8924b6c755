/**
 * A machine that is asked what would become of an event, and never run: nothing is invoked, sent, emitted or timed.
 *
 * XState's own `transition` does the same, but neither tells which transitions were taken nor bears a machine that sends
 * to its parent. All contact with what XState does not promise is here; a test walks what it says through real actors.
 */
import {
  createActor,
  fromTransition,
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  type EventObject,
} from 'xstate';

export interface Answer {
  readonly snapshot: AnyMachineSnapshot;
  /** In the order in which they would be taken, those without an event included. */
  readonly taken: readonly AnyTransitionDefinition[];
}

const nothing = fromTransition((state: null) => state, null);

export class AskedMachine {
  readonly #machine: AnyStateMachine;
  readonly #scope: AnyActorScope;
  #present: AnyMachineSnapshot | undefined;
  #taken: AnyTransitionDefinition[] = [];

  constructor(machine: AnyStateMachine) {
    this.#machine = machine;
    const self: AnyActorRef = createActor(nothing, { parent: createActor(nothing) });
    self.getSnapshot = () => this.#present;
    self.system.inspect((event) => {
      if (event.type === '@xstate.microstep') this.#taken.push(...event._transitions);
    });
    this.#scope = scopeOf(self);
  }

  begin(input: unknown): AnyMachineSnapshot {
    return this.#machine.getInitialSnapshot(this.#scope, input) as AnyMachineSnapshot;
  }

  ask(snapshot: AnyMachineSnapshot, event: EventObject): Answer {
    this.#present = snapshot;
    this.#taken = [];
    const next = this.#machine.transition(snapshot, event, this.#scope) as AnyMachineSnapshot;
    return { snapshot: next, taken: this.#taken };
  }
}

function scopeOf(self: AnyActorRef): AnyActorScope {
  const ignore = (): void => {};
  return {
    self,
    id: self.id,
    sessionId: self.sessionId,
    logger: ignore,
    defer: ignore,
    emit: ignore,
    stopChild: ignore,
    actionExecutor: ignore,
    system: self.system,
  };
}
