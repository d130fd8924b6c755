/**
 * Observes every event that the machines of a running system receive, and makes entries of them. Only this file uses
 * XState's inspection.
 *
 * O1. A cause is an event that no machine sent: from outside, from an effect, or from a timer. An event from machine to
 *     machine follows from the latest cause. Events to effects are not recorded.
 * O2. Causes that come before everything is at rest form one group: the states are recorded after the last one, because
 *     in between they are transient.
 * O3. An event to an actor that has ended is left out: it does nothing.
 */
import type {
  AnyActorRef,
  AnyMachineSnapshot,
  InspectedEventEvent,
  InspectionEvent,
  StateValue,
} from 'xstate';
import { AddressBook } from '../../actor-system/actor-path.js';
import { StateDigests, type Digest } from '../format/digest.js';
import { type CauseKind, type Delivery, type LoggedEvent, toLogged } from '../format/entry.js';
import type { NumberedClock } from '../../actor-system/numbered-clock.js';
import type { ObservableRoots } from '../../actor-system/root-actors.js';
import { knownDetailsOf } from '../../lifecycle/follow.js';
import type { StatusDetails } from '../../lifecycle/status-details.js';

/** The observed actors. */
export interface ObservableSystem {
  readonly manager: AnyActorRef;
  /** The manager's clock. */
  readonly timers: NumberedClock;
  /** The auxiliary machines. */
  readonly roots: ObservableRoots;
}

/** A cause, without the facts that are known only at rest. */
export interface Cause {
  readonly at: number;
  readonly to: string;
  readonly from: string | undefined;
  readonly kind: CauseKind;
  readonly event: LoggedEvent;
  readonly timer: number | undefined;
  readonly derived: Delivery[];
}

/** Causes, and the machines that they affected, at rest. */
export interface Group {
  readonly causes: readonly Cause[];
  /** Every machine that received an event. */
  readonly machines: readonly MachineState[];
  /** Those of them whose state changed, by address. */
  readonly moved: ReadonlySet<string>;
  /** The digest of `machines`. */
  readonly digest: Digest;
}

/** Callbacks of the observer, called while the machines are processing. */
export interface Listener {
  /** A group begins. */
  readonly first: () => void;
  /** An internal error. */
  readonly error: (error: unknown) => void;
}

export class ObservedSystem {
  readonly #manager: AnyActorRef;
  readonly #timers: NumberedClock;
  readonly #roots: ObservableRoots;
  readonly #listener: Listener;
  readonly #book: AddressBook;
  readonly #digests = new StateDigests();
  #refs = new Map<string, AnyActorRef>();
  #causes: Cause[] = [];
  /** The number of the last timer that fired. */
  #lastFired: number | undefined;
  #detach: readonly (() => void)[] = [];

  constructor({ manager, timers, roots }: ObservableSystem, listener: Listener) {
    this.#manager = manager;
    this.#timers = timers;
    this.#roots = roots;
    this.#book = new AddressBook(manager);
    this.#listener = listener;
  }

  /** Starts to observe. */
  attach(): void {
    this.#digests.of(this.machines());
    for (const ref of [this.#manager, ...this.#roots.all]) this.#listenTo(ref);
    this.#detach = [...this.#detach, this.#roots.follow((ref) => this.#listenTo(ref))];
  }

  detach(): void {
    for (const detach of this.#detach) detach();
    this.#detach = [];
  }

  /** Ends the group and returns it. Call it while no actor is processing. Undefined if there was no event. */
  takeGroup(): Group | undefined {
    if (this.#causes.length === 0) return undefined;
    const causes = this.#causes;
    const refs = this.#refs;
    this.#causes = [];
    this.#refs = new Map();
    const machines: MachineState[] = [];
    for (const [to, ref] of refs) machines.push(machineState(to, ref));
    const moved = new Set<string>();
    const digest = this.#digests.of(machines, (to) => moved.add(to));
    return { causes, machines, moved, digest };
  }

  /** Every machine, the manager first. */
  machines(): MachineState[] {
    return machineStates(this.#manager, this.#roots.all, this.#book);
  }

  #listenTo({ system }: AnyActorRef): void {
    const subscription = system.inspect((event) => this.#observe(event));
    this.#detach = [...this.#detach, () => subscription.unsubscribe()];
  }

  /** Once for each timer: its own event comes first; for its consequences, the event is enough. */
  #takeFiring(): number | undefined {
    const { firing } = this.#timers;
    if (firing === undefined || firing === this.#lastFired) return undefined;
    this.#lastFired = firing;
    return firing;
  }

  /** An exception in an observer would end the actor. */
  #observe(event: InspectionEvent): void {
    try {
      if (event.type === '@xstate.event') this.#note(event);
      else if (event.type === '@xstate.actor') this.#book.of(event.actorRef as AnyActorRef);
    } catch (error) {
      this.#listener.error(error);
    }
  }

  #note({ actorRef, sourceRef, event }: InspectedEventEvent): void {
    const target = actorRef as AnyActorRef;
    const { address: to, isMachine } = this.#book.of(target);
    if (!isMachine) return;
    const timer = this.#takeFiring();
    if ((target.getSnapshot() as AnyMachineSnapshot).status !== 'active') return;
    const source = sourceRef === undefined ? undefined : this.#book.of(sourceRef as AnyActorRef);
    const logged = toLogged(event);
    const delivery: Delivery =
      source === undefined ? { to, event: logged } : { to, from: source.address, event: logged };
    this.#refs.set(to, target);
    if (source?.isMachine === true && timer === undefined) {
      this.#causes.at(-1)?.derived.push(delivery);
      return;
    }
    if (this.#causes.length === 0) this.#listener.first();
    const { from } = delivery;
    const kind = kindOf(delivery, timer);
    this.#causes.push({ at: this.#timers.now(), to, from, kind, event: logged, timer, derived: [] });
  }
}

function kindOf({ from, event: { type } }: Delivery, timer: number | undefined): CauseKind {
  if (timer !== undefined) return 'timer';
  if (from === undefined) return 'send';
  return type.startsWith('xstate.done.') || type.startsWith('xstate.error.') ? 'settle' : 'callback';
}

// The states of the machines of a running system, in the form of a log.

/** The state of one machine. */
export interface MachineState {
  readonly to: string;
  readonly status: AnyMachineSnapshot['status'];
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
  /** For an observed connection: a summary of its emitted events. */
  readonly details?: StatusDetails | undefined;
}

/** The part of a machine's snapshot that is read. If it died in its initial state, it has only a status. */
interface PartialSnapshot {
  readonly status: AnyMachineSnapshot['status'];
  readonly value?: StateValue;
  readonly context?: Readonly<Record<string, unknown>>;
}

const NOTHING = {};

/** The state of the machine at that address. */
export function machineState(to: string, ref: AnyActorRef): MachineState {
  const { status, value = '', context = NOTHING } = ref.getSnapshot() as PartialSnapshot;
  return { to, status, state: value, context, details: knownDetailsOf(ref) };
}

/** Every machine: the manager, its connections, and the auxiliary machines. */
export function machineStates(
  manager: AnyActorRef,
  roots: Iterable<AnyActorRef>,
  book: AddressBook,
): MachineState[] {
  const { children } = manager.getSnapshot() as { readonly children: Record<string, AnyActorRef> };
  return [manager, ...Object.values(children), ...roots].map((ref) =>
    machineState(book.of(ref).address, ref),
  );
}
