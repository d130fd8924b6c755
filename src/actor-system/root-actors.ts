/**
 * The auxiliary machines, such as those of a configuration, a sign-in and a review: each is the root of an actor system of its own, and shares the manager's clock.
 *
 * R1. Observers hear of a machine before it starts.
 * R2. A machine that crashes because of an internal error is restarted, with the cause as `crash` in its input. Beyond `INTENSITY`
 *     it stays stopped, and its last state can still be read.
 * R3. These machines and the manager send each other no events. They communicate through effects, while none of them is
 *     processing, so every event that they receive is a cause.
 */
import {
  createActor,
  type ActorRefFrom,
  type AnyActorRef,
  type AnyStateMachine,
  type InputFrom,
} from 'xstate';
import { recordRestart } from '../../machines/policy/restart.js';
import type { NumberedClock } from './numbered-clock.js';
import { messageOf } from '../text/error-message.js';

const INTENSITY = { restarts: 5, periodMs: 30_000 };

export interface RootActors {
  /**
   * Starts an auxiliary machine; recorded and inspected like the manager. `id` is unique for the life of the
   * troupe, contains no secret, and starts with the kind: 'configuration', 'signIn:1', 'signIn:2', …
   */
  start<TLogic extends AnyStateMachine>(
    id: string,
    machine: TLogic,
    input: InputFrom<TLogic>,
  ): ActorRefFrom<TLogic>;
}

/** What an observer of these machines needs. */
export interface ObservableRoots {
  /** The machines that have not ended, in the order of their first start. */
  readonly all: Iterable<AnyActorRef>;
  /** Calls `started` with each new incarnation before it starts, until the returned function is called. */
  follow(started: (ref: AnyActorRef) => void): () => void;
}

/** How a machine crashed. */
export interface RootCrash {
  readonly id: string;
  readonly message: string;
  /** Whether it is restarted. */
  readonly restarts: boolean;
}

export class RootSupervisor implements RootActors, ObservableRoots {
  readonly #clock: NumberedClock;
  readonly #crashed: (crash: RootCrash) => void;
  readonly #refs = new Map<string, AnyActorRef>();
  readonly #crashes = new Map<string, readonly number[]>();
  readonly #followers = new Set<(ref: AnyActorRef) => void>();
  #isStopped = false;

  constructor(clock: NumberedClock, crashed: (crash: RootCrash) => void) {
    this.#clock = clock;
    this.#crashed = crashed;
  }

  get all(): Iterable<AnyActorRef> {
    return this.#refs.values();
  }

  /** The latest incarnation of the machine with that id; undefined once it has ended. */
  ref(id: string): AnyActorRef | undefined {
    return this.#refs.get(id);
  }

  start<TLogic extends AnyStateMachine>(
    id: string,
    machine: TLogic,
    input: InputFrom<TLogic>,
  ): ActorRefFrom<TLogic> {
    const ref = createActor(machine as AnyStateMachine, { id, input, clock: this.#clock });
    this.#refs.set(id, ref);
    ref.subscribe({
      error: (error) => this.#died(id, machine, input, messageOf(error)),
      complete: () => this.#ended(id, ref),
    });
    for (const started of this.#followers) started(ref);
    ref.start();
    return ref as ActorRefFrom<TLogic>;
  }

  follow(started: (ref: AnyActorRef) => void): () => void {
    this.#followers.add(started);
    return () => this.#followers.delete(started);
  }

  /** Stops every machine that has not ended; none is restarted. */
  stop(): void {
    this.#isStopped = true;
    for (const ref of this.#refs.values()) ref.stop();
    this.#refs.clear();
  }

  #died(id: string, machine: AnyStateMachine, input: unknown, message: string): void {
    const { times, exceeded } = recordRestart(this.#crashes.get(id) ?? [], this.#clock.now(), INTENSITY);
    this.#crashes.set(id, times);
    this.#crashed({ id, message, restarts: !exceeded });
    if (exceeded) return;
    // XState is still ending the old incarnation.
    queueMicrotask(() => {
      if (!this.#isStopped) this.start(id, machine, { ...(input as object), crash: message });
    });
  }

  #ended(id: string, ref: AnyActorRef): void {
    if (this.#refs.get(id) === ref) this.#refs.delete(id);
    this.#crashes.delete(id);
  }
}
