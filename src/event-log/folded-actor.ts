/**
 * One machine without anything around it: where it stands, moved on by what its chart says of an event. What it would
 * start or send is left out. Runs in a browser.
 *
 * It takes guards and actions from the chart and executes them itself, with `chart-steps.ts` for everything else, so
 * that it knows nothing of the interpreter that it is compared with. All contact with how XState keeps actions is here.
 */
import {
  assign,
  createActor,
  fromTransition,
  raise,
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
  type StateValue,
} from 'xstate';
import { ChartSteps, type Action, type Place, type Plan, type Transition } from './chart-steps.js';

type Context = Readonly<Record<string, unknown>>;

/** Where a machine stands, as a log tells it. */
export interface Standing {
  readonly status: AnyMachineSnapshot['status'];
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
}

/** A chart that machines are folded by. */
export interface FoldedChart {
  readonly machine: AnyStateMachine;
  /** Whether an event is kept from the chart. Default: none is. */
  readonly isRefused?: (context: Context, event: EventObject) => boolean;
  readonly steps: ChartSteps;
}

export function foldedChart(machine: AnyStateMachine, isRefused?: FoldedChart['isRefused']): FoldedChart {
  return { machine, steps: new ChartSteps(machine), ...(isRefused !== undefined && { isRefused }) };
}

/** An actor that does nothing. */
export const nothing = fromTransition((state: null) => state, null);
/** Above everything, so that what is sent to a parent has somewhere to go. */
const nobody = createActor(nothing);

const NO_ITERATIONS_LEFT = 'its transitions without an event do not come to an end';

export class FoldedActor {
  readonly #chart: FoldedChart;
  readonly #self: object;
  #status: Standing['status'] = 'active';
  #place: Place;
  #context: Context;
  #raised: EventObject[] = [];

  private constructor(
    chart: FoldedChart,
    snapshot: AnyMachineSnapshot,
    children: () => Readonly<Record<string, FoldedActor>>,
  ) {
    this.#chart = chart;
    this.#self = { getSnapshot: () => ({ children: children() }) };
    this.#status = snapshot.status;
    this.#place = chart.steps.place(snapshot._nodes);
    this.#context = snapshot.context as Context;
  }

  /** A machine that begins with that input. `children` are the machines below it. */
  static begin(
    chart: FoldedChart,
    id: string,
    input: unknown,
    children: () => Readonly<Record<string, FoldedActor>> = () => ({}),
  ): FoldedActor {
    const snapshot = chart.machine.getInitialSnapshot(inertScope(id), input) as AnyMachineSnapshot;
    return new FoldedActor(chart, snapshot, children);
  }

  /** A machine that goes on from where a log says it stood. Throws for a state that its chart does not have. */
  static resume(
    chart: FoldedChart,
    { status, state, context }: Standing,
    children: () => Readonly<Record<string, FoldedActor>> = () => ({}),
  ): FoldedActor {
    return new FoldedActor(chart, chart.machine.resolveState({ value: state, context, status }), children);
  }

  /** As the machines ask for it of a child. */
  getSnapshot(): Standing {
    return this.standing;
  }

  get standing(): Standing {
    return { status: this.#status, state: this.#place.value, context: this.#context };
  }

  /** An error of the chart ends it, as it would end the actor. */
  send(event: EventObject): void {
    if (this.#status !== 'active') return;
    const before = { context: this.#context, place: this.#place };
    try {
      this.#take(event);
    } catch {
      this.#status = 'error';
      this.#context = before.context;
      this.#place = before.place;
    }
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

  /** Takes what needs no event, and what the machine has told itself, until nothing of it is left. */
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
    if (typeof resolved !== 'function' || 'check' in resolved)
      throw new Error('a guard that cannot be folded');
    return resolved({ context: this.#context, event }, params) === true;
  }

  #execute(action: Action, event: EventObject): void {
    const { resolved, params } = this.#resolve(action as Named, 'actions', event);
    if (resolved === undefined) return;
    if (resolved.assignment !== undefined) this.#assign(resolved.assignment, event, params);
    else if (resolved.collect !== undefined) this.#collect(resolved.collect, event, params);
    else if (resolved.type === 'xstate.raise') this.#raise(resolved, event, params);
  }

  /** What is raised with a delay comes as a timer, of which the log tells. */
  #raise({ delay, event: told }: Implementation, event: EventObject, params: unknown): void {
    const args = { context: this.#context, event };
    const { delays } = this.#chart.machine.implementations as {
      readonly delays: Readonly<Record<string, unknown>>;
    };
    const named = typeof delay === 'string' ? delays[delay] : delay;
    if (typeof computed(named, args, params) === 'number') return;
    this.#raised.push(computed(told, args, params) as EventObject);
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
    const args = { context: this.#context, event, self: this.#self, spawn: () => nobody };
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
      raise: (told: never, options?: never) => void queue.push(raise(told, options)),
      emit: ignore,
      sendTo: ignore,
      sendParent: ignore,
      cancel: ignore,
      spawnChild: ignore,
      stopChild: ignore,
    });
    const check = (guard: unknown): boolean => this.#passes(guard, event);
    collect({ context: this.#context, event, self: this.#self, enqueue, check }, params);
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
}
type Named = string | Implementation | { readonly type: string; readonly params?: unknown };
type Assigner = (args: object, params: unknown) => Context;
type Assignment = Assigner | Readonly<Record<string, unknown>>;
type Collect = (args: object, params: unknown) => void;

function isComputing(value: unknown): value is (args: object, params: unknown) => unknown {
  return typeof value === 'function';
}

/** What XState lets be given as a value or as a function that makes it. */
function computed(value: unknown, args: object, params?: unknown): unknown {
  return isComputing(value) ? value(args, params) : value;
}

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
