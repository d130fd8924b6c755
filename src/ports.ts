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
  clearTimeout(handle: unknown): void;
}

/** A longer delay would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Handles of what is due without delay: a timer of Node would wait for a millisecond. */
const immediate = new WeakSet<object>();

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, ms) => {
    if (ms > 0) return setTimeout(fn, Math.min(ms, LONGEST_DELAY_MS));
    const handle = setImmediate(fn);
    immediate.add(handle);
    return handle;
  },
  clearTimeout: (handle) => {
    if (immediate.has(handle as NodeJS.Immediate)) clearImmediate(handle as NodeJS.Immediate);
    else clearTimeout(handle as NodeJS.Timeout);
  },
};

/** Where the runtime writes what no observer was there to hear. Silent unless the host gives one. */
export interface Logger {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

export const silentLogger: Logger = { debug: () => {}, warn: () => {}, error: () => {} };
