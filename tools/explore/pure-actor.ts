/**
 * One machine as a pure function from a place and an event to the next place and the actions that XState would execute.
 * Nothing runs, nothing is sent, no clock is read. XState itself computes the step.
 */
import {
  createActor,
  type AnyActorRef,
  type AnyEventObject,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type StateValue,
} from 'xstate';

/** The state of a machine, as plain data. */
export interface Place<Context> {
  readonly value: StateValue;
  readonly context: Context;
  /** Pending delayed events, by the id under which each was scheduled. */
  readonly timers: readonly string[];
}

/** An action that XState would execute. */
export type Action =
  | { readonly kind: 'start'; readonly id: string; readonly slot: string; readonly input: unknown }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'send'; readonly to: string; readonly event: AnyEventObject };

export interface Step<Context> extends Place<Context> {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly actions: readonly Action[];
  readonly tags: ReadonlySet<string>;
  /** Why the step is forbidden in any chart. */
  readonly problem: string | null;
}

/** The part of its children that a machine may read. */
export type ChildView = Pick<AnyActorRef, 'id' | 'getSnapshot'>;

/** The parts of XState's types that are used here. */
interface Snapshot {
  value: StateValue;
  context: unknown;
  status: Step<unknown>['status'];
  children: Record<string, ChildView | undefined>;
  _nodes: { readonly invoke: readonly { readonly id: string }[]; readonly tags: readonly string[] }[];
}

interface Executed {
  readonly type: string;
  readonly params: unknown;
}

interface Spawned {
  readonly id: string;
  readonly src: string;
  readonly options: { readonly input: unknown };
}

export class PureActor<Context> {
  readonly #machine: AnyStateMachine;
  readonly #self: AnyActorRef;
  readonly #scope: AnyActorScope;
  #executed: Executed[] = [];
  #last: { value: StateValue; context: Context; snapshot: Snapshot } | undefined;
  #children: Record<string, ChildView | undefined> = {};

  constructor(machine: AnyStateMachine, options: { id: string; input: unknown; parent?: AnyActorRef }) {
    this.#machine = machine;
    this.#self = createActor(machine, options) as AnyActorRef;
    this.#self.getSnapshot = () => ({ children: this.#children });
    const noop = (): void => {};
    this.#scope = {
      self: this.#self,
      id: options.id,
      sessionId: options.id,
      logger: noop,
      system: this.#self.system,
      defer: noop,
      emit: noop,
      stopChild: noop,
      actionExecutor: (action: Executed) => this.#executed.push(action),
    } as AnyActorScope;
  }

  get ref(): AnyActorRef {
    return this.#self;
  }

  initial(input: unknown): Step<Context> {
    this.#children = {};
    this.#executed = [];
    const next = this.#machine.getInitialSnapshot(this.#scope, input) as unknown as Snapshot;
    return this.#read(next, [], {});
  }

  /** `spawned` are the children that no state invokes. */
  step(from: Place<Context>, event: AnyEventObject, spawned: readonly ChildView[] = []): Step<Context> {
    const snapshot = this.#resolve(from);
    const invoked = snapshot._nodes.flatMap(({ invoke }) => invoke);
    const children = [...invoked, ...spawned].map((child) => [child.id, child] as const);
    this.#children = Object.fromEntries(children) as Record<string, ChildView>;
    snapshot.children = this.#children;
    this.#executed = [];
    const given = snapshot as unknown as AnyMachineSnapshot;
    const isHandled = this.#machine.getTransitionData(given, event).length > 0;
    // An unhandled error ends an actor.
    const next =
      isHandled || event.type.startsWith('xstate.error.')
        ? (this.#machine.transition(given, event, this.#scope) as unknown as Snapshot)
        : snapshot;
    const left = from.timers.filter((id) => id !== event.type);
    return this.#read(next, left, Object.fromEntries(spawned.map((child) => [child.id, child])));
  }

  /** Caches the last place, because several events are tried in a row at the same place. */
  #resolve(from: Place<Context>): Snapshot {
    if (this.#last?.value === from.value && this.#last.context === from.context) return this.#last.snapshot;
    const { value, context } = from;
    const snapshot = this.#machine.resolveState({ value, context }) as unknown as Snapshot;
    this.#last = { value, context, snapshot };
    return snapshot;
  }

  #read(next: Snapshot, armed: readonly string[], before: Record<string, ChildView>): Step<Context> {
    const timers = new Set(armed);
    const actions: Action[] = [];
    let problem: string | null = null;
    for (const { type, params } of this.#executed) {
      if (type === 'xstate.raise') {
        const { id, event, delay } = params as { id?: string; event: AnyEventObject; delay?: number };
        if (delay === undefined) continue;
        const timer = id ?? event.type;
        if (timers.has(timer)) problem = `The timer '${timer}' is set while it runs.`;
        timers.add(timer);
      } else if (type === 'xstate.cancel') timers.delete((params as { sendId: string }).sendId);
      else if (type === 'xstate.spawnChild') {
        const { id, actorRef } = params as { id: string; actorRef: Spawned };
        actions.push({
          kind: 'start',
          id,
          slot: actorRef.src,
          input: actorRef.options.input,
        });
      } else if (type === 'xstate.stopChild')
        actions.push({ kind: 'stop', id: (params as { id: string }).id });
      else if (type === 'xstate.sendTo') {
        const { to, event } = params as { to: { id: string }; event: AnyEventObject };
        actions.push({ kind: 'send', to: to.id, event });
      }
    }
    // A child spawned in an assign is started without an action.
    for (const [id, child] of Object.entries(next.children)) {
      if (
        child === undefined ||
        child === before[id] ||
        actions.some((action) => action.kind === 'start' && action.id === id)
      )
        continue;
      const { src, options } = child as unknown as Spawned;
      if (options !== undefined) actions.push({ kind: 'start', id, slot: src, input: options.input });
    }
    return {
      value: next.value,
      context: next.context as Context,
      timers: next.status === 'active' ? [...timers].sort() : [],
      status: next.status,
      actions,
      tags: new Set(next._nodes.flatMap(({ tags }) => tags)),
      problem: problem ?? this.#effectProblem(next, before),
    };
  }

  /** The running effects must be those that the states invoke. */
  #effectProblem(next: Snapshot, spawned: Record<string, ChildView>): string | null {
    if (next.status !== 'active') return null;
    const asked = next._nodes.flatMap(({ invoke }) => invoke.map(({ id }) => id));
    const running = Object.keys(next.children);
    const missing = asked.find((id) => !running.includes(id));
    if (missing !== undefined) return `The effect '${missing}' does not run.`;
    const isOwn = (id: string): boolean => asked.includes(id) || id in spawned;
    const left = running.find(
      (id) => !isOwn(id) && (next.children[id] as { options?: unknown }).options === undefined,
    );
    return left === undefined ? null : `The effect '${left}' runs on.`;
  }
}
