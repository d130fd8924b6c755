/** Timers for a clock that may be set back. */
import type { Clock } from '../ports.js';

/** What is left of `ms` that began at `from`: all of it if the clock was set back to an earlier time. */
export function timeLeft(clock: Clock, from: number, ms: number): number {
  return Math.min(Math.max(0, from + ms - clock.now()), ms);
}

/**
 * Calls `fn` each time nothing has happened for `ms`, until the returned function is called; 0 = never. One timer at a
 * time. `last` gives the time of the last happening. A time that differs from the one before counts as new, even if it is
 * earlier: the clock may have been set back.
 */
export function whenStill(clock: Clock, ms: number, last: () => number, fn: () => void): () => void {
  if (ms <= 0) return () => {};
  let timer: unknown;
  let seen = last();
  const arm = (delay: number): void => {
    timer = clock.setTimeout(() => {
      const at = last();
      const delayMs = at === seen ? 0 : timeLeft(clock, at, ms);
      seen = at;
      arm(delayMs > 0 ? delayMs : ms);
      if (delayMs === 0) fn();
    }, delay);
  };
  arm(timeLeft(clock, seen, ms));
  return () => clock.clearTimeout(timer);
}
