/**
 * How long a caller waits: until its own signal aborts, until it has heard nothing for a time, or until the time for
 * all of it is over.
 */
import { LONGEST_DELAY_MS } from '../../machines/policy/backoff.js';
import type { Clock } from '../ports.js';

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

export class Patience {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #over = new AbortController();
  #idle: unknown;
  #total: unknown;

  /** Whoever makes one calls `end`. */
  constructor(clock: Clock, { idleMs, totalMs }: Limits, caller: AbortSignal | undefined) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#caller = caller;
    if (caller?.aborted === true) this.#giveUp();
    caller?.addEventListener('abort', this.#giveUp, { once: true });
    this.#idle = this.#timer(idleMs, false);
    this.#total = this.#timer(totalMs, true);
  }

  /** Aborts with `TimedOut` or `GivenUp` when patience is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Something was heard: the time of hearing nothing begins anew. */
  renew(): void {
    if (this.#idle === undefined) return;
    this.#clock.clearTimeout(this.#idle);
    this.#idle = this.#timer(this.#idleMs, false);
  }

  /** Leaves no timer and no listener. */
  end(): void {
    if (this.#idle !== undefined) this.#clock.clearTimeout(this.#idle);
    if (this.#total !== undefined) this.#clock.clearTimeout(this.#total);
    this.#idle = undefined;
    this.#total = undefined;
    this.#caller?.removeEventListener('abort', this.#giveUp);
  }

  #timer(limitMs: number, isTotal: boolean): unknown {
    if (!Number.isFinite(limitMs) || limitMs <= 0 || this.#over.signal.aborted) return undefined;
    return this.#clock.setTimeout(
      () => this.#over.abort(new TimedOut(limitMs, isTotal)),
      Math.min(limitMs, LONGEST_DELAY_MS),
    );
  }

  readonly #giveUp = (): void => this.#over.abort(new GivenUp());
}
