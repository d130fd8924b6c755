/**
 * Hears everything that the machines of a running system are told, and makes entries of it. All contact with XState's
 * inspection is here.
 *
 * O1. A cause is an event that no machine sent: from outside, from an effect, or from a timer. Whatever a machine sends
 *     to a machine follows from the latest cause. What effects are told is no part of it.
 * O2. Causes that come before everything was at rest are one group: where the machines stand is told of their end, for
 *     in between they are on the way.
 * O3. What is sent to an actor that has ended is left out: it does nothing.
 */
import type { AnyActorRef, AnyMachineSnapshot, InspectedEventEvent, InspectionEvent } from 'xstate';
import { AddressBook } from './address-book.js';
import { StandingDigests, type Digest } from './digest.js';
import type { CauseKind, Delivery, LoggedEvent } from './entry.js';
import { toLogged } from './logged-event.js';
import { machineState, machineStates, type MachineState } from './machine-state.js';
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
  readonly from: string | undefined;
  readonly kind: CauseKind;
  readonly event: LoggedEvent;
  readonly timer: number | undefined;
  readonly derived: Delivery[];
}

/** Causes, and where everything they touched has come to rest. */
export interface Group {
  readonly causes: readonly Cause[];
  /** Where every machine stands that was told anything. */
  readonly machines: readonly MachineState[];
  /** Those among them that came to another state, by address. */
  readonly moved: ReadonlySet<string>;
  /** Over `machines`. */
  readonly digest: Digest;
}

/** What is done with what is heard. All of it is called while the machines are at work. */
export interface Listener {
  /** A group begins. */
  readonly first: () => void;
  /** An error in here. */
  readonly error: (error: unknown) => void;
}

export class ObservedSystem {
  readonly #manager: AnyActorRef;
  readonly #timers: NumberedClock;
  readonly #listener: Listener;
  readonly #book = new AddressBook();
  readonly #digests = new StandingDigests();
  #refs = new Map<string, AnyActorRef>();
  #causes: Cause[] = [];
  /** The number of the timer that was heard of last. */
  #lastFired: number | undefined;
  #subscription: { unsubscribe(): void } | undefined;

  constructor({ manager, timers }: ObservableSystem, listener: Listener) {
    this.#manager = manager;
    this.#timers = timers;
    this.#listener = listener;
  }

  /** From here on everything is heard. */
  attach(): void {
    this.#digests.of(this.machines());
    this.#subscription = this.#manager.system.inspect((event) => this.#hear(event));
  }

  detach(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }

  /** Ends the group. To be asked for while no actor is processing; undefined where nothing was heard. */
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
    return machineStates(this.#manager, this.#book);
  }

  /** Once for each timer: its own event comes first, and what that causes is told by the event alone. */
  #takeFiring(): number | undefined {
    const { firing } = this.#timers;
    if (firing === undefined || firing === this.#lastFired) return undefined;
    this.#lastFired = firing;
    return firing;
  }

  /** An observer that throws would take the actor with it. */
  #hear(event: InspectionEvent): void {
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
    const told = toLogged(event);
    const delivery: Delivery =
      source === undefined ? { to, event: told } : { to, from: source.address, event: told };
    this.#refs.set(to, target);
    if (source?.isMachine === true && timer === undefined) {
      this.#causes.at(-1)?.derived.push(delivery);
      return;
    }
    if (this.#causes.length === 0) this.#listener.first();
    const { from } = delivery;
    const kind = kindOf(delivery, timer);
    this.#causes.push({ at: this.#timers.now(), to, from, kind, event: told, timer, derived: [] });
  }
}

function kindOf({ from, event: { type } }: Delivery, timer: number | undefined): CauseKind {
  if (timer !== undefined) return 'timer';
  if (from === undefined) return 'send';
  return type.startsWith('xstate.done.') || type.startsWith('xstate.error.') ? 'settle' : 'callback';
}
