/**
 * Hears everything that the machines of one system are told, and makes entries of it. All contact with XState's
 * inspection is here; it serves the recorder and the replayer, so both see alike.
 *
 * O1. A cause is an event that no machine sent: from outside, from an effect, or from a timer. Whatever a machine sends
 *     to a machine follows from the latest cause. What effects are told is no part of it.
 * O2. Causes that come before everything was at rest are one group: where the machines stand is told of their end, for
 *     in between they are on the way.
 * O3. What is sent to an actor that has ended is left out: it does nothing.
 */
import type {
  AnyActorRef,
  AnyMachineSnapshot,
  InspectedEventEvent,
  InspectionEvent,
  StateValue,
} from 'xstate';
import { AddressBook, isMachineAddress } from './address-book.js';
import { ContextDigests } from './digest.js';
import type { CauseKind, Delivery, LoggedEvent } from './entry.js';
import { toLogged } from './logged-event.js';
import type { NumberedClock } from './numbered-clock.js';

/** The actors that are observed. */
export interface ObservableSystem {
  readonly manager: AnyActorRef;
  /** The clock that the manager was made with. */
  readonly timers: NumberedClock;
}

/** A cause without what is known only at rest. */
export interface Cause {
  readonly at: number;
  readonly to: string;
  readonly from?: string;
  readonly kind: CauseKind;
  readonly event: LoggedEvent;
  readonly timer?: number;
  readonly derived: Delivery[];
}

/** A machine, as it stands. */
export interface MachineState {
  readonly to: string;
  readonly status: AnyMachineSnapshot['status'];
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
}

/** Causes, and where everything they touched has come to rest. */
export interface Group {
  readonly causes: readonly Cause[];
  /** By address. */
  readonly states: ReadonlyMap<string, StateValue>;
  /** Over the states and contexts of every machine that was told anything. */
  readonly digest: string;
}

export class ObservedSystem {
  readonly #manager: AnyActorRef;
  readonly #timers: NumberedClock;
  readonly #book = new AddressBook();
  readonly #contexts = new ContextDigests();
  readonly #onFirst: () => void;
  readonly #onError: (error: unknown) => void;
  #refs = new Map<string, AnyActorRef>();
  #causes: Cause[] = [];
  #subscription: { unsubscribe(): void } | undefined;

  /** `onFirst` is called when a group begins, while the machines are at work; `onError` for an error in here. */
  constructor({ manager, timers }: ObservableSystem, onFirst: () => void, onError: (error: unknown) => void) {
    this.#manager = manager;
    this.#timers = timers;
    this.#onFirst = onFirst;
    this.#onError = onError;
  }

  /** From here on everything is heard. */
  attach(): void {
    this.#book.of(this.#manager);
    this.#subscription = this.#manager.system.inspect((event) => this.#hear(event));
  }

  detach(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }

  addressOf(ref: AnyActorRef): string {
    return this.#book.of(ref);
  }

  /** Ends the group. To be asked for while no actor is processing; undefined where nothing was heard. */
  takeGroup(): Group | undefined {
    if (this.#causes.length === 0) return undefined;
    const causes = this.#causes;
    const touched = [...this.#refs].toSorted(([a], [b]) => (a < b ? -1 : 1));
    this.#causes = [];
    this.#refs = new Map();
    const machines = touched.map(([to, ref]) => stateOf(to, ref));
    return {
      causes,
      states: new Map(machines.map(({ to, state }) => [to, state])),
      digest: statesDigest(machines, this.#contexts),
    };
  }

  /** Every machine, the manager first. */
  machines(): MachineState[] {
    const { children } = this.#manager.getSnapshot() as { readonly children: Record<string, AnyActorRef> };
    return [this.#manager, ...Object.values(children)].map((ref) => stateOf(this.#book.of(ref), ref));
  }

  /** An observer that throws would take the actor with it. */
  #hear(event: InspectionEvent): void {
    try {
      if (event.type === '@xstate.actor') this.#book.of(event.actorRef as AnyActorRef);
      else if (event.type === '@xstate.event') this.#note(event);
    } catch (error) {
      this.#onError(error);
    }
  }

  #note({ actorRef, sourceRef, event }: InspectedEventEvent): void {
    const target = actorRef as AnyActorRef;
    const source = sourceRef as AnyActorRef | undefined;
    const to = this.#book.of(target);
    if (!isMachineAddress(to)) return;
    const timer = this.#timers.takeFiring();
    if ((target.getSnapshot() as AnyMachineSnapshot).status !== 'active') return;
    const from = source === undefined ? undefined : this.#book.of(source);
    const delivery: Delivery = { to, ...(from !== undefined && { from }), event: toLogged(event) };
    this.#refs.set(to, target);
    const isFromMachine = from !== undefined && isMachineAddress(from);
    if (isFromMachine && timer === undefined) {
      this.#causes.at(-1)?.derived.push(delivery);
      return;
    }
    if (this.#causes.length === 0) this.#onFirst();
    const kind = kindOf(delivery, timer);
    this.#causes.push({
      at: this.#timers.now(),
      kind,
      ...delivery,
      ...(timer !== undefined && { timer }),
      derived: [],
    });
  }
}

function kindOf({ from, event: { type } }: Delivery, timer: number | undefined): CauseKind {
  if (timer !== undefined) return 'timer';
  if (from === undefined) return 'send';
  return type.startsWith('xstate.done.') || type.startsWith('xstate.error.') ? 'settle' : 'callback';
}

/** What is read of a machine's snapshot. One that died of its very first state has no more than a status. */
interface Standing {
  readonly status: AnyMachineSnapshot['status'];
  readonly value: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
}

function stateOf(to: string, ref: AnyActorRef): MachineState {
  const {
    status,
    value = '',
    context = {},
  } = ref.getSnapshot() as Partial<Standing> & Pick<Standing, 'status'>;
  return { to, status, state: value, context };
}

/** Over machines in the order of their addresses. */
export function statesDigest(machines: readonly MachineState[], contexts: ContextDigests): string {
  return machines.map((machine) => stateDigest(machine, contexts)).join('\n');
}

function stateDigest({ to, status, state, context }: MachineState, contexts: ContextDigests): string {
  const digest = contexts.of(to, context);
  if (status !== 'active') contexts.forget(to);
  return JSON.stringify([to, status, state, digest]);
}
