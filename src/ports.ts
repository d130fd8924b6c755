/**
 * The outside things Troupe needs, declared where they are needed and supplied once.
 * Production wiring is `systemClock` and `silentLogger`; tests supply their own.
 */

/** Time, as the runtime sees it. All values are milliseconds. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `fn` after `ms`; the returned handle goes to `clearTimeout`.
   *
   * @param fn Called once, without arguments.
   * @param ms The delay in milliseconds; 0 or less is as soon as possible.
   */
  setTimeout(fn: () => void, ms: number): unknown;
  /**
   * Cancels a timer. No error if it has fired.
   *
   * @param handle What `setTimeout` returned.
   */
  clearTimeout(handle: unknown): void;
}

/** A longer delay would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** A timer that fires later than this was held up: the process was stopped, or its event loop was busy. */
const LATE_MS = 10;

/** Timers that are due and wait for what came before them. */
let overdue = 0;

/**
 * A timer of the system clock. One that was held up first lets the event loop read what has come meanwhile, in two turns,
 * because an answer that came in time must win over its time limit. Timers that are due meanwhile wait as well, so that
 * their order stays.
 */
class SystemTimer {
  readonly #fn: () => void;
  readonly #dueAt: number;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #isOverdue = false;

  constructor(fn: () => void, ms: number) {
    this.#fn = fn;
    this.#dueAt = performance.now() + ms;
    // A timer of Node would wait for a millisecond.
    if (ms > 0) this.#timer = setTimeout(() => this.#fire(), Math.min(ms, MAX_DELAY_MS));
    else this.#turn = setImmediate(fn);
  }

  clear(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#leaveQueue();
  }

  /** Does not keep the process running. */
  unref(): void {
    this.#timer?.unref();
    this.#turn?.unref();
  }

  #fire(): void {
    if (overdue === 0 && performance.now() - this.#dueAt < LATE_MS) return this.#fn();
    this.#isOverdue = true;
    overdue += 1;
    this.#turn = setImmediate(() => {
      this.#turn = setImmediate(() => {
        this.#leaveQueue();
        this.#fn();
      });
    });
  }

  #leaveQueue(): void {
    if (this.#isOverdue) overdue -= 1;
    this.#isOverdue = false;
  }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, ms) => new SystemTimer(fn, ms),
  clearTimeout: (handle) => (handle as SystemTimer | undefined)?.clear(),
};

/** Receives what no observer has received. Silent unless the host gives one. */
export interface Logger {
  /**
   * Writes details that only help to find a fault.
   *
   * @param message One sentence for a person, without secrets.
   * @param details Facts for programs, as plain JSON. Default: none.
   */
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  /**
   * Writes what is odd but does not stop the work.
   *
   * @param message One sentence for a person, without secrets.
   * @param details Facts for programs, as plain JSON. Default: none.
   */
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  /**
   * Writes what has failed.
   *
   * @param message One sentence for a person, without secrets.
   * @param details Facts for programs, as plain JSON. Default: none.
   */
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

export const silentLogger: Logger = { debug: () => {}, warn: () => {}, error: () => {} };

// The logger of a host, whose errors do no harm: an error that it throws, or a promise that it rejects, is dropped, since
// there is nowhere else to report it.

export function guardedLogger(logger: Logger = silentLogger): Logger {
  const guarded =
    (level: keyof Logger): Logger['error'] =>
    (message, details) => {
      try {
        const written: unknown = logger[level](message, details);
        if (written instanceof Promise) written.catch(() => {});
      } catch {
        // See above.
      }
    };
  return { debug: guarded('debug'), warn: guarded('warn'), error: guarded('error') };
}
