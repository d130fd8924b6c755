/**
 * Plays a log through the real actors: the effects do nothing until the log says what came of them, and a timer fires
 * when the log says that it did. Needs a log from the start.
 *
 * It hears what the machines are told where they are told it, in their logic. XState's inspection would tell of every
 * action and every step besides, at a sixth of the whole cost.
 */
import { createActor, type ActorLogic, type AnyActorRef, type EventObject, type Snapshot } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.js';
import { managerMachine, type ManagerInput } from '../../machines/manager.machine.js';
import { withDoor } from '../actors/door.js';
import type { Clock } from '../ports.js';
import { AddressBook } from './address-book.js';
import { StandingDigests, type Digest } from './digest.js';
import type { CauseEntry, Delivery, LogHeader } from './entry.js';
import { fromLogged, toLogged } from './logged-event.js';
import { machineState, machineStates, type MachineState } from './machine-state.js';

/** Timers that fire by their number and never by themselves. */
class CommandedClock implements Clock {
  readonly #timers = new Map<number, () => void>();
  #set = 0;

  now(): number {
    return 0;
  }

  setTimeout(fn: () => void): number {
    this.#set += 1;
    this.#timers.set(this.#set, fn);
    return this.#set;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** False where no such timer is set. */
  fire(number: number): boolean {
    const fn = this.#timers.get(number);
    this.#timers.delete(number);
    fn?.();
    return fn !== undefined;
  }
}

/** What came of some causes. */
export interface Consequences {
  /** What the machines were told by each other, in order. */
  readonly derived: readonly Delivery[];
  /** Where every machine stands that was told anything. */
  readonly machines: readonly MachineState[];
  /** Over `machines`. */
  readonly digest: Digest;
}

export class Rerun {
  readonly #clock = new CommandedClock();
  readonly #manager: AnyActorRef;
  readonly #book = new AddressBook();
  readonly #digests = new StandingDigests();
  /** The machines and effects that came last, by the address without its incarnation. */
  readonly #actors = new Map<string, { readonly address: string; readonly ref: AnyActorRef }>();
  #told = new Map<string, AnyActorRef>();
  #derived: Delivery[] = [];
  /** What a machine is told next is the cause itself. */
  #isCauseDue = false;

  /** Throws where the header's input is none. */
  constructor({ input }: LogHeader) {
    this.#manager = createActor(stubbed, {
      input: input as unknown as ManagerInput,
      clock: this.#clock,
    });
    this.#manager.subscribe({ error: () => {} });
    this.#manager.start();
    this.meet(this.#manager);
    reruns.set(this.#manager.system, this);
  }

  machines(): readonly MachineState[] {
    return machineStates(this.#manager, this.#book);
  }

  /** Does what the entry says was done. Gives the reason where that cannot be done here. */
  play({ kind, to, from, event, timer }: CauseEntry): string | undefined {
    this.#isCauseDue = true;
    if (kind === 'timer')
      return this.#clock.fire(timer ?? 0) ? undefined : `names timer ${timer}, which is not set`;
    const receiver = this.#find(to);
    if (receiver === undefined) return `is for ${to}, which does not exist`;
    if (kind === 'send') {
      receiver.send(fromLogged(event));
      return undefined;
    }
    const effect = this.#find(from ?? '');
    const isAtWork = (effect?.getSnapshot() as Snapshot<unknown> | undefined)?.status === 'active';
    if (effect === undefined || !isAtWork) return `is from ${from}, which is not at work`;
    effect.send({ type: OUTCOME, event: fromLogged(event) });
    return undefined;
  }

  /** What followed from everything that was played since the last time; undefined where no machine heard of it. */
  takeConsequences(): Consequences | undefined {
    if (this.#told.size === 0) return undefined;
    const machines: MachineState[] = [];
    for (const [to, ref] of this.#told) machines.push(machineState(to, ref));
    const derived = this.#derived;
    this.#told = new Map();
    this.#derived = [];
    return { derived, machines, digest: this.#digests.of(machines) };
  }

  stop(): void {
    reruns.delete(this.#manager.system);
    this.#manager.stop();
  }

  /** There is another machine. */
  meet(ref: AnyActorRef): void {
    this.#keep(this.#book.of(ref).address, ref);
  }

  /** There is another effect. */
  meetEffect(ref: AnyActorRef): void {
    this.#keep(this.#book.next(ref), ref);
  }

  /** A machine is told something. */
  hear(ref: AnyActorRef, event: EventObject): void {
    const to = this.#book.of(ref).address;
    this.#told.set(to, ref);
    if (this.#isCauseDue) this.#isCauseDue = false;
    else this.#derived.push({ to, event: toLogged(event) });
  }

  #keep(address: string, ref: AnyActorRef): void {
    this.#actors.set(withoutIncarnation(address), { address, ref });
  }

  #find(address: string): AnyActorRef | undefined {
    const latest = this.#actors.get(withoutIncarnation(address));
    return latest?.address === address ? latest.ref : undefined;
  }
}

/** Incarnations of what is above an actor count: only its own is left out. */
function withoutIncarnation(address: string): string {
  return address.slice(0, address.lastIndexOf('#'));
}

/** Who is to hear of the actors of a system. */
const reruns = new WeakMap<AnyActorRef['system'], Rerun>();

/** The same machine, of which the replay hears. */
function heard<T extends typeof connectionMachine | typeof managerMachine>(machine: T): T {
  const logic = Object.create(machine) as typeof connectionMachine;
  const heardOf = machine as typeof connectionMachine;
  logic.getInitialSnapshot = (scope, input) => {
    const rerun = reruns.get(scope.system);
    rerun?.meet(scope.self);
    const snapshot = heardOf.getInitialSnapshot(scope, input);
    rerun?.hear(scope.self, { type: 'xstate.init', input } as EventObject);
    return snapshot;
  };
  logic.transition = (snapshot, event, scope) => {
    if (!isStop(event)) reruns.get(scope.system)?.hear(scope.self, event);
    return heardOf.transition(snapshot, event, scope);
  };
  return logic as T;
}

/** What is sent may be no event at all, as only a bug sends it. */
function isStop(event: EventObject | null): boolean {
  return event?.type === 'xstate.stop';
}

/** Tells an effect what came of it. */
const OUTCOME = 'replay.outcome';

interface Outcome extends EventObject {
  readonly event: (EventObject & { readonly output?: unknown; readonly error?: unknown }) | null;
}

const AT_WORK: Snapshot<unknown> = { status: 'active', output: undefined, error: undefined };
const STOPPED: Snapshot<unknown> = { status: 'stopped', output: undefined, error: undefined };

/** An effect that settles, or says something, when it is told to. */
const stub: ActorLogic<Snapshot<unknown>, EventObject> = {
  getInitialSnapshot: ({ self, system }) => {
    reruns.get(system)?.meetEffect(self);
    return AT_WORK;
  },
  getPersistedSnapshot: (snapshot) => snapshot,
  transition: (snapshot, told, { self }) => {
    if (isStop(told)) return STOPPED;
    if (told.type !== OUTCOME) return snapshot;
    const { event } = told as Outcome;
    if (event?.type.startsWith('xstate.done.') === true)
      return { status: 'done', output: event.output, error: undefined };
    if (event?.type.startsWith('xstate.error.') === true)
      return { status: 'error', output: undefined, error: event.error };
    self._parent?.send(event);
    return snapshot;
  },
};

const stubs = Object.fromEntries(
  Object.keys(connectionMachine.implementations.actors).map((slot) => [slot, stub as never]),
);
const connection = heard(withDoor(connectionMachine.provide({ actors: stubs }), () => {}));
const stubbed = heard(managerMachine.provide({ actors: { connection } }));
