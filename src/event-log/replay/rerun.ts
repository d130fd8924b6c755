/**
 * Replays a log with the real actors: the effects do nothing until the log contains their outcome, and a timer fires
 * when the log says so. Needs a log from the start.
 *
 * It observes events in the logic of the machines. XState's inspection would also report every action and every step,
 * at a sixth of the whole cost. Longer than 300 lines because the machines, their effects and their timers are replaced
 * together.
 */
import {
  createActor,
  type ActorLogic,
  type AnyActorRef,
  type AnyStateMachine,
  type EventObject,
  type Snapshot,
  type StateValue,
} from 'xstate';
import type { connectionMachine } from '../../../machines/connection/connection.machine.js';
import type { ManagerInput } from '../../../machines/manager/manager.events.js';
import type { managerMachine } from '../../../machines/manager/manager.machine.js';
import { phaseOf } from '../../../machines/manager/manager.phase.js';
import { withConnectionFilter } from '../../actor-system/event-filter.js';
import { AddressBook, isMachineAddress, rootId, rootKind } from '../../actor-system/actor-path.js';
import { StateDigests, type Digest } from '../format/digest.js';
import {
  type CauseEntry,
  type Delivery,
  type LoggedEvent,
  type LogHeader,
  fromLogged,
  toLogged,
} from '../format/entry.js';
import { isSameJson } from '../../json/json-object.js';
import { CURRENT_MACHINES, type ReplayMachines } from './replay-machines.js';
import { machineState, machineStates, type MachineState } from '../record/observed-system.js';

type Scheduler = AnyActorRef['system']['scheduler'];

interface Timer {
  readonly target: AnyActorRef;
  readonly event: EventObject;
  readonly delay: number;
  /** Time of the entry that set it. */
  readonly setAt: number;
}

/** Keeps the timers of a system, by the machine that set them and their name. They fire only on command. */
class CommandedScheduler implements Scheduler {
  /** Time of the entry that is played. */
  now = 0;
  readonly #timers = new Map<AnyActorRef, Map<string, Timer>>();

  schedule(
    source: AnyActorRef,
    target: AnyActorRef,
    event: EventObject,
    delay: number,
    id = event.type,
  ): void {
    const own = this.#timers.get(source) ?? new Map<string, Timer>();
    this.#timers.set(source, own.set(id, { target, event, delay, setAt: this.now }));
  }

  cancel(source: AnyActorRef, id: string): void {
    this.#timers.get(source)?.delete(id);
  }

  cancelAll(source: AnyActorRef): void {
    this.#timers.delete(source);
  }

  /** Removes the timer of that machine which sends this event, if it is set. */
  take(source: AnyActorRef, target: AnyActorRef, event: LoggedEvent): Timer | undefined {
    for (const [id, timer] of this.#timers.get(source) ?? []) {
      if (timer.target !== target || !isSameJson(toLogged(timer.event), event)) continue;
      this.cancel(source, id);
      return timer;
    }
    return undefined;
  }
}

/** The consequences of some causes. */
export interface Consequences {
  /** Events between the machines, in order. */
  readonly derived: readonly Delivery[];
  /** The state of every machine that received an event. */
  readonly machines: readonly MachineState[];
  /** The digest of `machines`. */
  readonly digest: Digest;
}

export class Rerun {
  readonly #scheduler = new CommandedScheduler();
  readonly #charts: RerunCharts;
  readonly #manager: AnyActorRef;
  readonly #book: AddressBook;
  /** The latest incarnation of each auxiliary machine, by id. */
  readonly #roots = new Map<string, AnyActorRef>();
  readonly #digests = new StateDigests();
  /** The latest machines and effects, by address without the incarnation. */
  readonly #actors = new Map<string, { readonly address: string; readonly ref: AnyActorRef }>();
  #delivered = new Map<string, AnyActorRef>();
  #derived: Delivery[] = [];
  /** The next event that a machine receives is the cause itself. */
  #isCauseDue = false;

  /**
   * Starts a manager without connections in that state. Default: its initial state. Throws if the input of the header is
   * invalid, or if the chart does not have the state.
   */
  constructor({ input }: LogHeader, state?: StateValue, charts: RerunCharts = CURRENT) {
    const stubbed = charts.manager;
    this.#charts = charts;
    const begun = createActor(stubbed, { input: input as unknown as ManagerInput }).getSnapshot();
    this.#manager = createActor(stubbed, {
      input: input as unknown as ManagerInput,
      ...(state !== undefined && {
        snapshot: stubbed.resolveState({ value: state, context: begun.context }),
      }),
    });
    this.#manager.system.scheduler = this.#scheduler;
    this.#manager.subscribe({ error: () => {} });
    this.#manager.start();
    this.#book = new AddressBook(this.#manager);
    this.meet(this.#manager);
    reruns.set(this.#manager.system, this);
  }

  machines(): readonly MachineState[] {
    return machineStates(this.#manager, this.#roots.values(), this.#book);
  }

  /**
   * Repeats what the entry records. Returns the reason if that is impossible. `timed`: whether timers must have fired when
   * the charts say.
   */
  play({ kind, at, to, from, event }: CauseEntry, timed = false): string | undefined {
    this.#isCauseDue = true;
    this.#scheduler.now = at;
    const id = rootId(to);
    if (id !== undefined && event.type === 'xstate.init' && isMachineAddress(to))
      return this.#begin(to, id, event['input']);
    const receiver = this.#find(to);
    if (receiver === undefined) return `is for ${to}, which does not exist`;
    if (kind === 'timer') return this.#fire(this.#find(from ?? to), receiver, event, timed);
    if (kind === 'send') {
      receiver.send(fromLogged(event));
      return undefined;
    }
    const effect = this.#find(from ?? '');
    const isAtWork = (effect?.getSnapshot() as Snapshot<unknown> | undefined)?.status === 'active';
    if (effect === undefined || !isAtWork) return `is from ${from}, which is not running`;
    effect.send({ type: OUTCOME, event: fromLogged(event) });
    return undefined;
  }

  /** A timer is found by its machine and its event, so what another machine does differently does not matter. */
  #fire(
    source: AnyActorRef | undefined,
    target: AnyActorRef,
    event: LoggedEvent,
    timed: boolean,
  ): string | undefined {
    const timer = source && this.#scheduler.take(source, target, event);
    if (timer === undefined) return `'${event.type}' fires, and no such timer is set`;
    target.send(timer.event);
    return timed ? whyOtherTime(event.type, this.#scheduler.now - timer.setAt, timer.delay) : undefined;
  }

  /** The consequences of everything played since the last call; undefined if no machine received an event. */
  takeConsequences(): Consequences | undefined {
    if (this.#delivered.size === 0) return undefined;
    const machines: MachineState[] = [];
    for (const [to, ref] of this.#delivered) machines.push(machineState(to, ref));
    const derived = this.#derived;
    this.#delivered = new Map();
    this.#derived = [];
    return { derived, machines, digest: this.#digests.of(machines) };
  }

  stop(): void {
    for (const ref of [this.#manager, ...this.#roots.values()]) {
      reruns.delete(ref.system);
      ref.stop();
    }
  }

  /** Called for every new machine. */
  meet(ref: AnyActorRef, address?: string): void {
    const place = address === undefined ? this.#book.of(ref) : this.#book.enter(ref, address);
    this.#keep(place.address, ref);
  }

  /** Called for every new effect. */
  registerEffect(ref: AnyActorRef): void {
    this.#keep(this.#book.next(ref), ref);
  }

  /** Called for every event that a machine receives. */
  deliver(ref: AnyActorRef, event: EventObject): void {
    const to = this.#book.of(ref).address;
    this.#delivered.set(to, ref);
    if (this.#isCauseDue) this.#isCauseDue = false;
    else this.#derived.push({ to, event: toLogged(event) });
  }

  /** Starts an auxiliary machine. */
  #begin(address: string, id: string, input: unknown): string | undefined {
    const machine = this.#charts.roots.get(rootKind(id));
    if (machine === undefined) return 'is of an unknown kind';
    beginning = { rerun: this, address };
    try {
      const ref = createActor(machine, { id, input });
      ref.system.scheduler = this.#scheduler;
      reruns.set(ref.system, this);
      this.#roots.set(id, ref);
      ref.subscribe({ error: () => {} });
      ref.start();
    } finally {
      beginning = undefined;
    }
    return undefined;
  }

  #keep(address: string, ref: AnyActorRef): void {
    this.#actors.set(withoutIncarnation(address), { address, ref });
  }

  #find(address: string): AnyActorRef | undefined {
    const latest = this.#actors.get(withoutIncarnation(address));
    return latest?.address === address ? latest.ref : undefined;
  }
}

/** Whether a manager in that state has started nothing yet, and has set no timer that a rerun would lack. */
export function isUnstarted(state: StateValue): boolean {
  const phase = phaseOf(state);
  return phase === 'idle' || phase === 'reading';
}

/** Incarnations of an actor's ancestors count: only its own is left out. */
function withoutIncarnation(address: string): string {
  return address.slice(0, address.lastIndexOf('#'));
}

/** The rerun that observes the actors of a system. */
const reruns = new WeakMap<AnyActorRef['system'], Rerun>();

/** Set while an auxiliary machine is created, when its system is not known yet. */
let beginning: { readonly rerun: Rerun; readonly address: string } | undefined;

function rerunOf(system: AnyActorRef['system']): Rerun | undefined {
  return reruns.get(system) ?? beginning?.rerun;
}

/** The same machine, observed by the replay. */
function heard<T extends AnyStateMachine>(machine: T): T {
  const logic = Object.create(machine) as typeof connectionMachine;
  const heardOf = machine as unknown as typeof connectionMachine;
  logic.getInitialSnapshot = (scope, input) => {
    const rerun = rerunOf(scope.system);
    rerun?.meet(scope.self, scope.self._parent === undefined ? beginning?.address : undefined);
    const snapshot = heardOf.getInitialSnapshot(scope, input);
    rerun?.deliver(scope.self, { type: 'xstate.init', input } as EventObject);
    return snapshot;
  };
  logic.transition = (snapshot, event, scope) => {
    if (!isStop(event)) reruns.get(scope.system)?.deliver(scope.self, event);
    return heardOf.transition(snapshot, event, scope);
  };
  return logic as unknown as T;
}

/** Because of a bug, a sent value may not be an event at all. */
function isStop(event: EventObject | null): boolean {
  return event?.type === 'xstate.stop';
}

/** Tells an effect its outcome. */
const OUTCOME = 'replay.outcome';

interface Outcome extends EventObject {
  readonly event: (EventObject & { readonly output?: unknown; readonly error?: unknown }) | null;
}

const AT_WORK: Snapshot<unknown> = { status: 'active', output: undefined, error: undefined };
const STOPPED: Snapshot<unknown> = { status: 'stopped', output: undefined, error: undefined };

/** An effect that settles or sends an event on command. */
const stub: ActorLogic<Snapshot<unknown>, EventObject> = {
  getInitialSnapshot: ({ self, system }) => {
    rerunOf(system)?.registerEffect(self);
    return AT_WORK;
  },
  getPersistedSnapshot: (snapshot) => snapshot,
  transition: (snapshot, message, { self }) => {
    if (isStop(message)) return STOPPED;
    if (message.type !== OUTCOME) return snapshot;
    const { event } = message as Outcome;
    if (event?.type.startsWith('xstate.done.') === true)
      return { status: 'done', output: event.output, error: undefined };
    if (event?.type.startsWith('xstate.error.') === true)
      return { status: 'error', output: undefined, error: event.error };
    self._parent?.send(event);
    return snapshot;
  },
};

/** The same machine, without its effects. */
function stubbedOf<T extends AnyStateMachine>(machine: T): T {
  const slots = Object.keys(machine.implementations.actors);
  return machine.provide({ actors: Object.fromEntries(slots.map((slot) => [slot, stub])) }) as T;
}

/** Machines whose effects do nothing, observed by the replay. */
export interface RerunCharts {
  readonly manager: typeof managerMachine;
  /** The auxiliary machines, by the kind that their ids begin with. */
  readonly roots: ReadonlyMap<string, AnyStateMachine>;
}

export function rerunCharts({ connection, manager, roots }: ReplayMachines): RerunCharts {
  const stubbed = heard(withConnectionFilter(stubbedOf(connection), () => {}));
  return {
    manager: heard(manager.provide({ actors: { connection: stubbed } })),
    roots: new Map(Object.entries(roots).map(([kind, machine]) => [kind, heard(stubbedOf(machine))])),
  };
}

const CURRENT = rerunCharts(CURRENT_MACHINES);

/** A timer is never early, except by rounding, and seldom later than this. */
const EARLY_MS = 50;
const LATE_MS = 1_000;
const LATE_SHARE = 0.5;

/** Why a timer would have fired at another time than in the log. */
function whyOtherTime(name: string, recordedMs: number, delayMs: number): string | undefined {
  const lateMs = recordedMs - delayMs;
  if (lateMs >= -EARLY_MS && lateMs <= LATE_MS + delayMs * LATE_SHARE) return undefined;
  return `'${name}' fires ${delayMs} ms after it was set, instead of ${recordedMs} ms`;
}
