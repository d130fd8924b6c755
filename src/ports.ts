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

/** Handles of what is due without delay: a timer of Node would wait for a millisecond. */
const immediate = new WeakSet<object>();

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, ms) => {
    if (ms > 0) return setTimeout(fn, Math.min(ms, MAX_DELAY_MS));
    const handle = setImmediate(fn);
    immediate.add(handle);
    return handle;
  },
  clearTimeout: (handle) => {
    if (immediate.has(handle as NodeJS.Immediate)) clearImmediate(handle as NodeJS.Immediate);
    else clearTimeout(handle as NodeJS.Timeout);
  },
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
