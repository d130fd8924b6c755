/**
 * One machine in isolation: its state, and how its chart changes that state at each event. It starts and sends nothing.
 * Runs in a browser.
 *
 * It takes guards and actions from the chart and executes them itself, and uses `chart-steps.ts` for everything else. So it
 * shares no code with the interpreter that it is compared with.
 *
 * Longer than 300 lines because all code that depends on how XState stores actions is here.
 */
import {
  assign,
  matchesState,
  raise,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
  type StateValue,
  createActor,
  fromTransition,
  type AnyActorRef,
  type AnyActorScope,
} from 'xstate';
import type { StatusDetails } from '../../lifecycle/status-details.js';
import { ChartSteps, type Action, type ActiveStates, type Plan, type Transition } from './chart-steps.js';

type Context = Readonly<Record<string, unknown>>;

/** The state of one machine, as a log has it. */
export interface FoldedState {
  /** Whether the actor still runs, in the terms of XState. */
  readonly status: AnyMachineSnapshot['status'];
  /** The state value of the machine, as XState writes it. */
  readonly state: StateValue;
  /** The context of the machine; secrets are masked. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Status details of a connection; undefined for another machine, or if the log does not hold them. */
  readonly details?: StatusDetails | undefined;
}

/** A chart that machines are folded by. */
export interface FoldedChart {
  readonly machine: AnyStateMachine;
  /** Whether an event is withheld from the chart. Default: no event is. */
  readonly isRefused?: (context: Context, event: EventObject) => boolean;
  /** Sums up what the chart emits. Default: it is ignored. */
  readonly summarize?: (details: StatusDetails | undefined, emitted: EventObject) => StatusDetails;
  readonly steps: ChartSteps;
}

export function foldedChart(
  machine: AnyStateMachine,
  ways: Pick<FoldedChart, 'isRefused' | 'summarize'> = {},
): FoldedChart {
  return { machine, steps: new ChartSteps(machine), ...ways };
}

/** A folded machine has no children. */
const SELF = { getSnapshot: () => ({ children: {} }) };

const NO_ITERATIONS_LEFT = 'its transitions without an event do not come to an end';

export class FoldedActor {
  readonly #chart: FoldedChart;
  #status: FoldedState['status'] = 'active';
  #place: ActiveStates;
  #context: Context;
  #details: StatusDetails | undefined;
  #raised: EventObject[] = [];
  /** Its state before the last event. */
  #before: { readonly context: Context; readonly place: ActiveStates };

  private constructor(chart: FoldedChart, snapshot: AnyMachineSnapshot, details?: StatusDetails) {
    this.#chart = chart;
    this.#details = details;
    this.#status = snapshot.status;
    this.#place = chart.steps.place(snapshot._nodes);
    this.#context = snapshot.context as Context;
    this.#before = { context: this.#context, place: this.#place };
  }

  /** A machine that starts with that input. */
  static begin(chart: FoldedChart, id: string, input: unknown): FoldedActor {
    const snapshot = chart.machine.getInitialSnapshot(inertScope(id), input) as AnyMachineSnapshot;
    return new FoldedActor(chart, snapshot);
  }

  /** A machine that continues from its state in a log. Throws for a state that its chart does not have. */
  static resume(chart: FoldedChart, { status, state, context, details }: FoldedState): FoldedActor {
    return new FoldedActor(chart, chart.machine.resolveState({ value: state, context, status }), details);
  }

  get folded(): FoldedState {
    return {
      status: this.#status,
      state: this.#place.value,
      context: this.#context,
      details: this.#details,
    };
  }

  /** An error of the chart ends it, as it would end the actor. */
  send(event: EventObject): void {
    if (this.#status !== 'active') return;
    this.#before = { context: this.#context, place: this.#place };
    try {
      this.#take(event);
    } catch {
      this.die();
    }
  }

  /** The last event killed it, and it keeps its state from before. */
  die(): void {
    this.#status = 'error';
    this.#context = this.#before.context;
    this.#place = this.#before.place;
  }

  #take(event: EventObject): void {
    if (this.#chart.isRefused?.(this.#context, event) === true) return;
    if (event.type === 'xstate.stop') {
      this.#status = 'stopped';
      return;
    }
    this.#raised = [];
    const taken = this.#allowed(this.#chart.steps.plan(this.#place, event.type), event);
    if (taken.length === 0 && event.type.startsWith('xstate.error.actor')) {
      this.#status = 'error';
      return;
    }
    this.#step(taken, event);
    this.#settle(event);
  }

  /** Takes eventless transitions and raised events until there are no more. */
  #settle(last: EventObject): void {
    let event = last;
    let mayMove = true;
    for (let left = Number(this.#chart.machine.options.maxIterations); this.#status === 'active'; left -= 1) {
      if (left <= 0) throw new Error(NO_ITERATIONS_LEFT);
      const before = { context: this.#context, place: this.#place };
      const taken = mayMove ? this.#always(event) : [];
      if (taken.length > 0) {
        this.#step(taken, event);
        mayMove = before.context !== this.#context || before.place !== this.#place;
        continue;
      }
      const next = this.#raised.shift();
      if (next === undefined) return;
      event = next;
      this.#step(this.#allowed(this.#chart.steps.plan(this.#place, event.type), event), event);
      mayMove = true;
    }
  }

  #always(event: EventObject): Transition[] {
    return this.#place.always.flatMap((transitions) => this.#first(transitions, event) ?? []);
  }

  #allowed({ regions, own }: Plan, event: EventObject): Transition[] {
    const inner = regions.length === 0 ? [] : regions.flatMap((region) => this.#allowed(region, event));
    if (inner.length > 0) return inner;
    const first = this.#first(own, event);
    return first === undefined ? [] : [first];
  }

  #first(transitions: readonly Transition[], event: EventObject): Transition | undefined {
    return transitions.find(({ guard }) => guard === undefined || this.#passes(guard, event));
  }

  #step(transitions: readonly Transition[], event: EventObject): void {
    if (transitions.length === 0) return;
    const { actions, raised, to } = this.#chart.steps.step(this.#place, transitions);
    for (const action of actions) this.#execute(action, event);
    this.#place = to;
    if (to.isEnd) this.#status = 'done';
    else for (const type of raised) this.#raised.push({ type });
  }

  #passes(guard: unknown, event: EventObject): boolean {
    const { resolved, params } = this.#resolve(guard as Named, 'guards', event);
    if (typeof resolved !== 'function') throw new Error('a guard that cannot be folded');
    if (resolved.stateValue !== undefined) return this.#isIn(resolved.stateValue);
    if ('check' in resolved) throw new Error('a guard that cannot be folded');
    return resolved({ context: this.#context, event }, params) === true;
  }

  /** The guard of XState's `stateIn`, for a value or the id of a node. */
  #isIn(state: StateValue): boolean {
    if (typeof state !== 'string' || !state.startsWith('#')) return matchesState(state, this.#place.value);
    return this.#place.nodes.has(this.#chart.machine.getStateNodeById(state));
  }

  #execute(action: Action, event: EventObject): void {
    const { resolved, params } = this.#resolve(action as Named, 'actions', event);
    if (resolved === undefined) return;
    if (resolved.assignment !== undefined) this.#assign(resolved.assignment, event, params);
    else if (resolved.collect !== undefined) this.#collect(resolved.collect, event, params);
    else if (resolved.type === 'xstate.raise') this.#raise(resolved, event, params);
    else if (resolved.type === 'xstate.emit') this.#emit(resolved, event, params);
  }

  #emit({ event: given }: Implementation, event: EventObject, params: unknown): void {
    const { summarize } = this.#chart;
    if (summarize === undefined) return;
    const emitted = computed(given, { context: this.#context, event }, params) as EventObject;
    this.#details = summarize(this.#details, emitted);
  }

  /** An event raised with a delay arrives as a timer, which the log holds. */
  #raise({ delay, event: given }: Implementation, event: EventObject, params: unknown): void {
    const args = { context: this.#context, event };
    const { delays } = this.#chart.machine.implementations as {
      readonly delays: Readonly<Record<string, unknown>>;
    };
    const named = typeof delay === 'string' ? delays[delay] : delay;
    if (typeof computed(named, args, params) === 'number') return;
    this.#raised.push(computed(given, args, params) as EventObject);
  }

  #resolve(
    named: Named,
    kind: 'guards' | 'actions',
    event: EventObject,
  ): { resolved: Implementation | undefined; params: unknown } {
    if (typeof named === 'function') return { resolved: named, params: undefined };
    const { type, params } = typeof named === 'string' ? { type: named, params: undefined } : named;
    const implementations = this.#chart.machine.implementations[kind] as Readonly<
      Record<string, Implementation>
    >;
    return {
      resolved: implementations[type],
      params: computed(params, { context: this.#context, event }),
    };
  }

  #assign(assignment: Assignment, event: EventObject, params: unknown): void {
    const args = { context: this.#context, event, self: SELF, spawn: () => nobody };
    const changes: Record<string, unknown> = {};
    if (typeof assignment === 'function') Object.assign(changes, assignment(args, params));
    else {
      for (const [name, value] of Object.entries(assignment)) changes[name] = computed(value, args, params);
    }
    this.#context = { ...this.#context, ...changes };
  }

  #collect(collect: Collect, event: EventObject, params: unknown): void {
    const queue: Action[] = [];
    const ignore = (): void => {};
    const enqueue = Object.assign((action: Action) => void queue.push(action), {
      assign: (assignment: never) => void queue.push(assign(assignment)),
      raise: (given: never, options?: never) => void queue.push(raise(given, options)),
      emit: ignore,
      sendTo: ignore,
      sendParent: ignore,
      cancel: ignore,
      spawnChild: ignore,
      stopChild: ignore,
    });
    const check = (guard: unknown): boolean => this.#passes(guard, event);
    collect({ context: this.#context, event, self: SELF, enqueue, check }, params);
    for (const action of queue) this.#execute(action, event);
  }
}

/** An implementation of a guard or of an action, as XState makes them. */
interface Implementation {
  (args: { readonly context: Context; readonly event: EventObject }, params: unknown): unknown;
  readonly type?: string;
  readonly assignment?: Assignment;
  readonly collect?: Collect;
  readonly event?: unknown;
  readonly delay?: unknown;
  /** For a `stateIn` guard. */
  readonly stateValue?: StateValue;
}
type Named = string | Implementation | { readonly type: string; readonly params?: unknown };
type Assigner = (args: object, params: unknown) => Context;
type Assignment = Assigner | Readonly<Record<string, unknown>>;
type Collect = (args: object, params: unknown) => void;

function isComputing(value: unknown): value is (args: object, params: unknown) => unknown {
  return typeof value === 'function';
}

/** A value that XState accepts either directly or as a function. */
function computed(value: unknown, args: object, params?: unknown): unknown {
  return isComputing(value) ? value(args, params) : value;
}

// Stand-ins for the surroundings of an actor in XState. They do nothing.

/** An actor that does nothing. */
export const nothing = fromTransition((state: null) => state, null);
/** The parent of every stand-in, to which events for a parent go. */
const nobody = createActor(nothing);

/** The scope of a machine that runs outside a system. */
function inertScope(id: string): AnyActorScope {
  const self: AnyActorRef = createActor(nothing, { id, parent: nobody });
  const ignore = (): void => {};
  return {
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
}
