/**
 * A clock that stands still until a test moves it: the `clock` of a troupe, or of any code that uses `now`, `setTimeout`
 * and `clearTimeout`.
 *
 * It skips nothing: `advance` goes from one due timer to the next, and lets the consequences of each happen before it goes
 * on. The system itself, such as a child process, does not stand still with it.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../ports.js';

/**
 * A clock that a test moves by hand. All values are milliseconds.
 *
 * @example
 * ```ts
 * import { createControlledClock } from 'mcp-troupe/testing';
 *
 * const clock = createControlledClock();
 * clock.setTimeout(() => console.log('due'), 1_000);
 * await clock.whenSet(1_000);
 * await clock.advance(1_000); // due
 * clock.sleep(3_600_000);
 * ```
 */
export interface ControlledClock extends Clock {
  /** Delays of the timers set now, in the order in which they were set. */
  readonly pending: readonly number[];
  /**
   * Moves the time on and fires due timers one by one, in order. The consequences of each come before the
   * next. A second call starts where the first one ends.
   *
   * @param ms How far to move, in milliseconds: 0 or more. 0 fires what is due now.
   *
   * @throws `RangeError` for a negative or infinite time.
   */
  advance(ms: number): Promise<void>;
  /**
   * Simulates a sleeping computer: the time jumps, and the remaining delay of every timer stays the same.
   *
   * @param ms How long the computer sleeps, in milliseconds: 0 or more.
   *
   * @throws `RangeError` for a negative or infinite time.
   */
  sleep(ms: number): void;
  /**
   * Resolves once a timer with this delay is set, at once if there is one.
   *
   * @param ms The delay in milliseconds with which the timer is set, exactly.
   */
  whenSet(ms: number): Promise<void>;
}

interface Timer {
  readonly ms: number;
  at: number;
  readonly fn: () => void;
}

/**
 * Makes a clock that a test moves by hand.
 *
 * @param start The time at the beginning, milliseconds since the epoch. Default 1,000,000.
 *
 * @throws `RangeError` if `start` is not a finite number.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { createControlledClock } from 'mcp-troupe/testing';
 *
 * const clock = createControlledClock();
 * await using troupe = createTroupe({ config: '.mcp.json', clock });
 * void troupe.start();
 * await clock.advance(30_000);
 * ```
 */
export function createControlledClock(start = 1_000_000): ControlledClock {
  if (!Number.isFinite(start)) throw new RangeError(`Expected a number as the time, found ${String(start)}.`);
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
  throw new RangeError(`Expected a finite number of milliseconds, 0 or more; found ${String(ms)}.`);
}
