/**
 * How long a caller waits: until its own signal aborts, until it has heard nothing for a time, or until the time for
 * all of it is over. While a person or a model of the host is asked, neither time goes on.
 */
import { LONGEST_DELAY_MS } from '../../machines/policy/backoff.js';
import { whenGivenUp } from '../caller-signal.js';
import type { Clock } from '../ports.js';
import { LightAbort } from '../light-abort.js';
import type { GiveUpSignal } from '../protocol/protocol-client.js';
import { timeLeft } from '../when-still.js';

/** Nothing was heard in time. */
export class TimedOut extends Error {
  constructor(
    readonly limitMs: number,
    /** It was the limit of the whole call. */
    readonly isTotal: boolean,
  ) {
    super(`It took longer than ${limitMs} ms.`);
  }
}

/** The caller's signal was aborted. */
export class GivenUp extends Error {}

/** Milliseconds. 0, and what is no finite number, means no limit. */
export interface Limits {
  /** Time in which nothing was heard. */
  readonly idleMs: number;
  /** Time in all. */
  readonly totalMs: number;
}

/** Aborts with `TimedOut` or `GivenUp` when it is over. */
export class Patience extends LightAbort {
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #leaveCaller: (() => void) | undefined;
  #idle: unknown;
  #total: unknown;
  /** What is left of the time in all. */
  #leftMs: number;
  #since = 0;
  #isPaused = false;
  #isEnded = false;

  /** Whoever makes one calls `end`. */
  constructor(clock: Clock, limits: Limits, caller: GiveUpSignal | undefined) {
    super();
    this.#clock = clock;
    this.#limits = limits;
    this.#leftMs = limits.totalMs;
    const giveUp = { handleEvent: () => this.abort(new GivenUp()) };
    if (caller?.aborted === true) giveUp.handleEvent();
    else if (caller !== undefined) this.#leaveCaller = whenGivenUp(caller, giveUp);
    this.#run();
  }

  /** Something was heard: the time of hearing nothing begins anew. */
  renew(): void {
    this.rest();
    if (!this.#isPaused) this.#idle = this.#timer(false, this.#limits.idleMs);
  }

  /** Nobody is expected to say anything before `renew`: only the time in all goes on. */
  rest(): void {
    if (this.#idle !== undefined) this.#clock.clearTimeout(this.#idle);
    this.#idle = undefined;
  }

  /** Both times stand still. Asked twice, it is still one `resume` that ends it. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#stop();
    this.#leftMs = timeLeft(this.#clock, this.#since, this.#leftMs);
  }

  /** The time of hearing nothing begins anew, the time in all goes on. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#run();
  }

  /** Leaves no timer and no listener. */
  end(): void {
    this.#isEnded = true;
    this.#stop();
    this.#leaveCaller?.();
  }

  #run(): void {
    this.#since = this.#clock.now();
    this.renew();
    this.#total = this.#timer(true, Math.max(this.#leftMs, 0));
  }

  #stop(): void {
    this.rest();
    if (this.#total !== undefined) this.#clock.clearTimeout(this.#total);
    this.#total = undefined;
  }

  #timer(isTotal: boolean, delayMs: number): unknown {
    const limitMs = isTotal ? this.#limits.totalMs : this.#limits.idleMs;
    const isNone = !Number.isFinite(limitMs) || limitMs <= 0;
    if (isNone || this.#isEnded || this.aborted) return undefined;
    return this.#clock.setTimeout(
      () => this.abort(new TimedOut(limitMs, isTotal)),
      Math.min(delayMs, LONGEST_DELAY_MS),
    );
  }
}
