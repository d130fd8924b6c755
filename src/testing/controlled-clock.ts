/**
 * A clock that stands still until a test moves it: the `clock` of a troupe, or whatever else has `now`, `setTimeout` and
 * `clearTimeout`.
 *
 * It never jumps over anything: `advance` goes from one due timer to the next, and lets what follows from each happen
 * before it goes on. Only what the system itself does, such as a child process, does not stand still with it.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../ports.js';

/** Time in the hands of a test. All values are milliseconds. */
export interface ControlledClock extends Clock {
  /** Delays of the timers that are set now, in the order of setting. */
  readonly pending: readonly number[];
  /**
   * Moves time on and fires what is due, one by one in order; what follows from each happens before the next. A second
   * call begins where the first one ends. Rejects with a `RangeError` for a time that cannot pass.
   */
  advance(ms: number): Promise<void>;
  /**
   * The machine sleeps: the time is another one, and what every timer has left to wait is the same. Throws a `RangeError`
   * for a time that cannot pass.
   */
  sleep(ms: number): void;
  /** Resolves when a timer of this delay is set, at once if one is. */
  whenSet(ms: number): Promise<void>;
}

interface Timer {
  readonly ms: number;
  at: number;
  readonly fn: () => void;
}

/** It shows `start`, in milliseconds since the epoch. Default 1,000,000. Throws a `RangeError` for what is no time. */
export function createControlledClock(start = 1_000_000): ControlledClock {
  if (!Number.isFinite(start)) throw new RangeError(`A clock shows a number, found ${String(start)}.`);
  const timers = new Set<Timer>();
  const waiting = new Set<{ readonly ms: number; readonly resolve: () => void }>();
  let now = start;
  let moved: Promise<void> = Promise.resolve();

  const due = (end: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];

  const move = async (ms: number): Promise<void> => {
    const end = now + ms;
    await turn();
    for (let next = due(end); next !== undefined; next = due(end)) {
      now = next.at;
      timers.delete(next);
      next.fn();
      await turn();
    }
    now = end;
  };

  return {
    now: () => now,
    setTimeout: (fn, ms) => {
      const timer = { ms, at: now + (ms > 0 ? ms : 0), fn };
      timers.add(timer);
      for (const one of waiting) {
        if (one.ms !== ms) continue;
        waiting.delete(one);
        one.resolve();
      }
      return timer;
    },
    clearTimeout: (handle) => {
      timers.delete(handle as Timer);
    },
    get pending() {
      return [...timers].map(({ ms }) => ms);
    },
    advance: async (ms) => {
      checkTime(ms);
      const before = moved;
      moved = before.catch(() => {}).then(() => move(ms));
      await moved;
    },
    sleep: (ms) => {
      checkTime(ms);
      now += ms;
      for (const timer of timers) timer.at += ms;
    },
    whenSet: async (ms) => {
      if ([...timers].some((timer) => timer.ms === ms)) return;
      await new Promise<void>((resolve) => waiting.add({ ms, resolve }));
    },
  };
}

function checkTime(ms: number): void {
  if (Number.isFinite(ms) && ms >= 0) return;
  throw new RangeError(`Time passes by a number of milliseconds, none or more; found ${String(ms)}.`);
}
