/**
 * One machine without anything around it: a snapshot, moved on by the pure transition of its chart. What it would start
 * or send is thrown away. All contact with the insides of XState that this takes is here. Runs in a browser.
 */
import {
  createActor,
  fromTransition,
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
  type StateValue,
} from 'xstate';

/** Where a machine stands, as a log tells it. */
export interface Standing {
  readonly status: AnyMachineSnapshot['status'];
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
}

/** An actor that does nothing. */
export const nothing = fromTransition((state: null) => state, null);
/** Above everything, so that what is sent to a parent has somewhere to go. */
const nobody = createActor(nothing);

export class FoldedActor {
  readonly #machine: AnyStateMachine;
  readonly #scope: AnyActorScope;
  #snapshot: AnyMachineSnapshot;

  private constructor(
    machine: AnyStateMachine,
    id: string,
    children: () => Readonly<Record<string, FoldedActor>>,
  ) {
    this.#machine = machine;
    const self: AnyActorRef = createActor(nothing, { id, parent: nobody });
    Object.assign(self, { getSnapshot: () => ({ children: children() }) });
    const ignore = (): void => {};
    this.#scope = {
      self,
      id,
      sessionId: id,
      logger: ignore,
      defer: ignore,
      emit: ignore,
      stopChild: ignore,
      actionExecutor: ignore,
      system: self.system,
    };
    this.#snapshot = machine.resolveState({ value: {}, context: {} });
  }

  /** A machine that begins with that input. `children` are the machines below it. */
  static begin(
    machine: AnyStateMachine,
    id: string,
    input: unknown,
    children: () => Readonly<Record<string, FoldedActor>> = () => ({}),
  ): FoldedActor {
    const actor = new FoldedActor(machine, id, children);
    actor.#snapshot = machine.getInitialSnapshot(actor.#scope, input) as AnyMachineSnapshot;
    return actor;
  }

  /** A machine that goes on from where a log says it stood. Throws for a state that its chart does not have. */
  static resume(
    machine: AnyStateMachine,
    id: string,
    { status, state, context }: Standing,
    children: () => Readonly<Record<string, FoldedActor>> = () => ({}),
  ): FoldedActor {
    const actor = new FoldedActor(machine, id, children);
    actor.#snapshot = machine.resolveState({ value: state, context, status });
    return actor;
  }

  /** As the machines ask for it of a child. */
  getSnapshot(): AnyMachineSnapshot {
    return this.#snapshot;
  }

  get standing(): Standing {
    const { status, value, context } = this.#snapshot as {
      readonly status: Standing['status'];
      readonly value: StateValue;
      readonly context: Standing['context'];
    };
    return { status, state: value, context };
  }

  /** An error of the chart ends it, as it would end the actor. */
  send(event: EventObject): void {
    if (this.#snapshot.status !== 'active') return;
    try {
      this.#snapshot = this.#machine.transition(this.#snapshot, event, this.#scope) as AnyMachineSnapshot;
    } catch (error) {
      this.#snapshot = { ...this.#snapshot, status: 'error', error } as AnyMachineSnapshot;
    }
  }
}
