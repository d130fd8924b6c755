/** A clock that a walk moves without giving the event loop a turn: what is due happens before anything that is still under way. */
import type { Clock } from '../../ports.js';

export interface WalkClock extends Clock {
  /** So many milliseconds pass. */
  pass(ms: number): void;
}

interface Timer {
  at: number;
  readonly fn: () => void;
}

export function createWalkClock(start: number): WalkClock {
  const timers = new Set<Timer>();
  let now = start;
  const pass = (ms: number): void => {
    const end = now + ms;
    for (;;) {
      const next = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      now = next.at;
      timers.delete(next);
      next.fn();
    }
    now = end;
  };
  return {
    now: () => now,
    setTimeout: (fn, ms) => {
      const timer = { at: now + Math.max(0, ms), fn };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (handle) => void timers.delete(handle as Timer),
    pass,
  };
}
