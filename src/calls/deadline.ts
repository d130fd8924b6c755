/**
 * How long a caller waits: until its signal aborts, until the server has been silent for too long, or until the time for
 * the whole request is over. Both times stand still while the server waits for a person or for a model of the host.
 */
import { MAX_DELAY_MS } from '../../machines/policy/backoff.js';
import { onAbort, type AbortSignalLike, LazyAbortController } from '../async/abort.js';
import type { Clock } from '../ports.js';
import { timeLeft } from '../async/timers.js';

/** Nothing was heard in time. */
export class TimedOut extends Error {
  constructor(
    readonly limitMs: number,
    /** Whether it was the limit of the whole request. */
    readonly isTotal: boolean,
  ) {
    super(`It took longer than ${limitMs} ms.`);
  }
}

/** The caller's signal was aborted. */
export class Aborted extends Error {}

/** Milliseconds. 0, or a number that is not finite, means no limit. */
export interface Limits {
  /** Longest silence of the server. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** The total limits of a request and of a call that became a task, in multiples of the limit without progress. */
const SILENCES = 6;
export const SILENCES_OF_TASK = 60;

/**
 * The limits of a request: without a total limit of its caller, a server that keeps reporting progress would keep it alive forever
 * (MCP 2025-11-25, "Timeouts": a maximum should always be enforced). Without a limit for silence, there is no total limit.
 */
export function limitsOf(idleMs: number, totalMs: number = SILENCES * idleMs): Limits {
  return { idleMs, totalMs };
}

/** Aborts with `TimedOut` or `GivenUp`. Its creator calls `end`. */
export class Deadline extends LazyAbortController {
  readonly #clock: Clock;
  #limits: Limits;
  readonly #leaveCaller: (() => void) | undefined;
  /** The timer of the limit that is exceeded first. */
  #timer: unknown;
  /** What was left of the total time at `since`. */
  #leftMs: number;
  #since = 0;
  #isResting = false;
  #isPaused = false;
  #isEnded = false;

  constructor(clock: Clock, limits: Limits, caller: AbortSignalLike | undefined) {
    super();
    this.#clock = clock;
    this.#limits = limits;
    this.#leftMs = limits.totalMs;
    const giveUp = { handleEvent: () => this.abort(new Aborted()) };
    if (caller?.aborted === true) giveUp.handleEvent();
    else if (caller !== undefined) this.#leaveCaller = onAbort(caller, giveUp);
    this.#run();
  }

  /** Starts the idle time again: something was received. */
  renew(): void {
    this.#isResting = false;
    this.#arm();
  }

  /** Stops the idle time until `renew`, while no message is expected. The total time goes on. */
  rest(): void {
    this.#isResting = true;
    this.#arm();
  }

  /** Raises the limit of the whole request, if it has one. */
  extend(totalMs: number): void {
    const more = totalMs - this.#limits.totalMs;
    if (!isLimit(this.#limits.totalMs) || more <= 0) return;
    this.#leftMs = (this.#isPaused ? this.#leftMs : this.#totalLeft()) + more;
    this.#since = this.#clock.now();
    this.#limits = { ...this.#limits, totalMs };
    this.#arm();
  }

  /** Stops both times. A second `pause` changes nothing: one `resume` ends both. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#disarm();
    this.#leftMs = this.#totalLeft();
  }

  /** The idle time starts again; the total time goes on where it stopped. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#run();
  }

  /** Leaves no timer and no listener. */
  end(): void {
    this.#isEnded = true;
    this.#disarm();
    this.#leaveCaller?.();
  }

  #run(): void {
    this.#since = this.#clock.now();
    this.#isResting = false;
    this.#arm(this.#leftMs);
  }

  #totalLeft(): number {
    return timeLeft(this.#clock, this.#since, this.#leftMs);
  }

  /** @param leftMs What is left of the total time, if the caller knows it. */
  #arm(leftMs?: number): void {
    this.#disarm();
    if (this.#isPaused || this.#isEnded || this.aborted) return;
    const { idleMs, totalMs } = this.#limits;
    const idleLeft = !this.#isResting && isLimit(idleMs) ? idleMs : Infinity;
    const totalLeft = isLimit(totalMs) ? (leftMs ?? this.#totalLeft()) : Infinity;
    // If both are equal, the total limit is reported: a `renew` right after the start must not change the error.
    const isTotal = totalLeft <= idleLeft;
    const delayMs = isTotal ? totalLeft : idleLeft;
    if (delayMs === Infinity) return;
    this.#timer = this.#clock.setTimeout(
      () => this.abort(new TimedOut(isTotal ? totalMs : idleMs, isTotal)),
      Math.min(delayMs, MAX_DELAY_MS),
    );
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function isLimit(ms: number): boolean {
  return Number.isFinite(ms) && ms > 0;
}
