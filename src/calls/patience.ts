/** How long a caller waits: until its own signal aborts, or until it has heard nothing for a time. */
import { LONGEST_DELAY_MS } from '../../machines/policy/backoff.js';
import type { Clock } from '../ports.js';

/** Nothing was heard in time. */
export class TimedOut extends Error {}

/** The caller's signal was aborted. */
export class GivenUp extends Error {}

export class Patience {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #over = new AbortController();
  #timer: unknown;

  /** `limitMs` 0, and what is no finite number, means no limit. Whoever makes one calls `end`. */
  constructor(clock: Clock, limitMs: number, caller: AbortSignal | undefined) {
    this.#clock = clock;
    this.#limitMs = Number.isFinite(limitMs) ? Math.min(limitMs, LONGEST_DELAY_MS) : 0;
    this.#caller = caller;
    if (caller?.aborted === true) this.#giveUp();
    caller?.addEventListener('abort', this.#giveUp, { once: true });
    this.#arm();
  }

  /** Aborts with `TimedOut` or `GivenUp` when patience is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Something was heard: the time begins anew. */
  renew(): void {
    if (this.#timer === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#arm();
  }

  /** Leaves no timer and no listener. */
  end(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#caller?.removeEventListener('abort', this.#giveUp);
  }

  #arm(): void {
    if (this.#limitMs <= 0 || this.#over.signal.aborted) return;
    this.#timer = this.#clock.setTimeout(() => this.#over.abort(new TimedOut()), this.#limitMs);
  }

  readonly #giveUp = (): void => this.#over.abort(new GivenUp());
}
