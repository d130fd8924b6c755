/**
 * The outside things Troupe needs, declared where they are needed and supplied once.
 * Production wiring is `systemClock` and `silentLogger`; tests supply their own.
 */

/** Time, as the runtime sees it. All values are milliseconds. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` after `ms`; the returned handle goes to `clearTimeout`. */
  setTimeout(fn: () => void, ms: number): unknown;
  /** Cancels a timer. No error if it has fired. */
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
  /** Writes details that only help to find a fault. */
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  /** Writes what is odd but does not stop the work. */
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  /** Writes what has failed. */
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

export const silentLogger: Logger = { debug: () => {}, warn: () => {}, error: () => {} };
