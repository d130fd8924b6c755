/**
 * Waiting on a clock: timers that end with their owner, a check for idleness, and waits and work with a limit.
 *
 * The folder `async` holds helpers for time, turns and aborting. They know nothing of MCP and start nothing by themselves.
 */
import type { Clock } from '../ports.js';
import { MAX_DELAY_MS } from '../../machines/policy/backoff.js';

// A clock that knows the timers it has set, so that none of them outlives its owner.
//
// The folder `async` holds helpers for time, turns and aborting. They know nothing of MCP and start nothing by themselves.

export class Timers implements Clock {
  readonly #clock: Clock;
  readonly #set = new Set<unknown>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  setTimeout(fn: () => void, ms: number): unknown {
    const handle = this.#clock.setTimeout(() => {
      this.#set.delete(handle);
      fn();
    }, ms);
    this.#set.add(handle);
    return handle;
  }

  clearTimeout(handle: unknown): void {
    this.#set.delete(handle);
    this.#clock.clearTimeout(handle);
  }

  clearAll(): void {
    for (const handle of this.#set) this.#clock.clearTimeout(handle);
    this.#set.clear();
  }
}

// Timers for a clock that may be set back.

/** What is left of `ms` that began at `from`: all of it if the clock was set back to an earlier time. */
export function timeLeft(clock: Clock, from: number, ms: number): number {
  return Math.min(Math.max(0, from + ms - clock.now()), ms);
}

/**
 * Calls `fn` each time nothing has happened for `ms`, until it is ended; 0 = never. One timer at a time. `last` gives the
 * time of the last happening. A time that differs from the one before counts as new, even if it is earlier: the clock
 * may have been set back.
 */
export class Stillness {
  #timer: unknown;
  #seen: number;

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
    private readonly last: () => number,
    private readonly fn: () => void,
  ) {
    this.#seen = last();
    if (ms > 0) this.#arm(timeLeft(clock, this.#seen, ms));
  }

  end(): void {
    this.clock.clearTimeout(this.#timer);
  }

  #arm(delayMs: number): void {
    this.#timer = this.clock.setTimeout(() => this.#look(), delayMs);
  }

  #look(): void {
    const at = this.last();
    const delayMs = at === this.#seen ? 0 : timeLeft(this.clock, at, this.ms);
    this.#seen = at;
    this.#arm(delayMs > 0 ? delayMs : this.ms);
    if (delayMs === 0) this.fn();
  }
}

// A wait with a limit. The work itself has none.

/** Resolves to whether `work` settled within `ms`; the work itself goes on. */
export function settlesWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(false), ms);
    const done = (): void => {
      clock.clearTimeout(timer);
      resolve(true);
    };
    work.then(done, done);
  });
}

// Work with a time limit and a signal.

/** A limit that no timer of the platform can hold counts as none. */
export function isLimit(ms: number): boolean {
  return ms > 0 && ms <= MAX_DELAY_MS;
}

/** The limit is over. */
export class LimitOver extends Error {
  constructor(readonly limitMs: number) {
    super(`It took longer than ${limitMs} ms.`);
  }
}

/** Runs `work` until it settles, `outer` aborts or `limitMs` is over, whichever comes first. */
export function withinLimit<T>(
  clock: Clock,
  outer: AbortSignal,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (outer.aborted) return Promise.reject(new LeftState());
  return new Promise<T>((resolve, reject) => {
    const inner = new AbortController();
    const stop = (): void => {
      if (timer !== undefined) clock.clearTimeout(timer);
      outer.removeEventListener('abort', onAbort);
    };
    const giveUp = (reason: Error): void => {
      stop();
      reject(reason);
      inner.abort(reason);
    };
    const onAbort = (): void => giveUp(new LeftState());
    const begin = async (): Promise<T> => work(inner.signal);
    const timer = isLimit(limitMs)
      ? clock.setTimeout(() => giveUp(new LimitOver(limitMs)), limitMs)
      : undefined;
    outer.addEventListener('abort', onAbort, { once: true });
    begin().then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** The state that invoked the work was left. */
export class LeftState extends Error {
  constructor() {
    super('The state that invoked this work was left.');
  }
}
