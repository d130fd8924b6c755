/**
 * Computes what a machine would do with an event, without running it: nothing is invoked, sent, emitted or timed.
 *
 * XState's own `transition` does the same, but does not report which transitions were taken, and fails for a machine that
 * sends to its parent. Only this file uses internals of XState; a test compares its answers with real actors.
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
  type StateValue,
} from 'xstate';

export interface Answer {
  readonly snapshot: AnyMachineSnapshot;
  /** The transitions in the order in which they would be taken, including those without an event. */
  readonly taken: readonly AnyTransitionDefinition[];
  /** The actions that would run, in their order, apart from changes of the context. */
  readonly actions: readonly PureAction[];
}

/** An action as XState would run it: its own have a `type` that begins with `xstate.`. */
export interface PureAction {
  readonly type: string;
  readonly params: unknown;
}

const nothing = fromTransition((state: null) => state, null);

export class PureMachine {
  readonly #machine: AnyStateMachine;
  readonly #scope: AnyActorScope;
  #present: AnyMachineSnapshot | undefined;
  #taken: AnyTransitionDefinition[] = [];
  #actions: PureAction[] = [];

  constructor(machine: AnyStateMachine) {
    this.#machine = machine;
    const self: AnyActorRef = createActor(nothing, { parent: createActor(nothing) });
    self.getSnapshot = () => this.#present;
    replaceNamesakes(self.system);
    self.system.inspect((event) => {
      if (event.type === '@xstate.microstep') this.#taken.push(...event._transitions);
    });
    this.#scope = {
      ...scopeOf(self),
      actionExecutor: ({ type, params }) => void this.#actions.push({ type, params }),
    };
  }

  /** Throws if the machine cannot start with that input. */
  begin(input: unknown): Answer {
    this.#present = undefined;
    this.#clear();
    const snapshot = this.#machine.getInitialSnapshot(this.#scope, input) as AnyMachineSnapshot;
    if (snapshot.status === 'error') throw snapshot.error;
    return { snapshot, taken: this.#taken, actions: this.#actions };
  }

  /** A snapshot in that state, as if its effects were running. Throws for a state that the machine does not have. */
  resume(value: StateValue, context: object): AnyMachineSnapshot {
    const snapshot = this.#machine.resolveState({ value, context }) as AnyMachineSnapshot;
    const running = snapshot._nodes.flatMap((node) => node.invoke);
    return Object.assign(snapshot, {
      children: Object.fromEntries(running.map(({ id }) => [id, createActor(nothing, { id })])),
    });
  }

  ask(snapshot: AnyMachineSnapshot, event: EventObject): Answer {
    this.#present = snapshot;
    this.#clear();
    const next = this.#machine.transition(snapshot, event, this.#scope) as AnyMachineSnapshot;
    return { snapshot: next, taken: this.#taken, actions: this.#actions };
  }

  #clear(): void {
    this.#taken = [];
    this.#actions = [];
  }
}

/** The part of an actor system that keeps actors by their `systemId`; it is not in XState's types. */
interface Registry {
  get(systemId: string): AnyActorRef | undefined;
  _set(systemId: string, actor: AnyActorRef): void;
  _unregister(actor: AnyActorRef): void;
}

/** No actor is ever stopped here, so an actor replaces the former one with the same `systemId`. */
function replaceNamesakes(system: AnyActorRef['system']): void {
  const registry = system as unknown as Registry;
  const set = registry._set.bind(registry);
  registry._set = (systemId, actor) => {
    const namesake = registry.get(systemId);
    if (namesake !== undefined) registry._unregister(namesake);
    set(systemId, actor);
  };
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
