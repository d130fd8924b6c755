/**
 * A clock that stands still until a test moves it: the `clock` of a troupe, or of any code that uses `now`, `setTimeout`
 * and `clearTimeout`.
 *
 * It skips nothing: `advance` goes from one due timer to the next, and lets the consequences of each happen before it goes
 * on. The system itself, such as a child process, does not stand still with it.
 */
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../ports.js';
import type { Troupe } from '../runtime/troupe.js';
import { digitGroups } from '../text/digit-groups.js';
import { requireKnown } from '../text/option-names.js';
import { loadAll } from './jumping-clock.js';

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
   * Moves the time on, from timer to timer, until a promise has settled, and settles as it does. Work that does not use the
   * clock comes first.
   *
   * @typeParam T What the promise resolves to.
   * @param promise What to wait for.
   * @param options Limits, and the troupe that an error describes. Default: an hour of the clock.
   *
   * @throws `Error` if the promise has not settled within `limitMs`, or no timer is left that could settle it. It names the
   * timers that are set and, with `troupe`, the running effects.
   * @throws `TypeError` for an unknown option.
   *
   * @example
   * ```ts
   * import { createTroupe } from 'mcp-troupe';
   * import { createControlledClock, createScriptedServer, silent } from 'mcp-troupe/testing';
   *
   * const clock = createControlledClock();
   * const server = createScriptedServer({ on: { initialize: silent } });
   * const troupe = createTroupe({ servers: { files: server }, clock });
   * const { failed } = await clock.runUntil(troupe.start(), { troupe });
   * await clock.runUntil(troupe.close(), { troupe });
   * ```
   */
  runUntil<T>(promise: PromiseLike<T>, options?: RunOptions): Promise<T>;
  /**
   * Resolves once a timer with this delay is set, at once if there is one.
   *
   * @param ms The delay in milliseconds with which the timer is set, exactly.
   */
  whenSet(ms: number): Promise<void>;
}

/** Options of `runUntil`. */
export interface RunOptions {
  /** Longest time of the clock, in milliseconds. Default 3,600,000: an hour. */
  readonly limitMs?: number;
  /**
   * How long work outside of the clock, such as a process or a module that loads, may be silent before the clock goes on to a
   * timer that may be its limit, in real milliseconds. Default 20; raise it if servers are processes.
   */
  readonly graceMs?: number;
  /** The troupe that the promise waits for: an error then says what its connections are doing. Default: none. */
  readonly troupe?: Troupe;
}

interface Timer {
  readonly ms: number;
  at: number;
  readonly fn: () => void;
}

/** Turns of the event loop in which nothing settles, before the clock goes on. */
const IDLE_TURNS = 5;
/** A timer this long may limit work that takes real time. */
const MAY_BE_LIMIT_MS = 1_000;
/** How long work without any timer may take, in real milliseconds. */
const PATIENCE_MS = 1_000;
/** Timers in an error. */
const MAX_SHOWN = 8;

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

  const stuck = (limitMs: number, troupe: Troupe | undefined): Error => {
    const set = [...timers].toSorted((a, b) => a.at - b.at).slice(0, MAX_SHOWN);
    const dues = set.map(({ ms, at }) => `${digitGroups(ms)} ms (due in ${digitGroups(at - now)} ms)`);
    const found = [
      timers.size === 0 ? 'no timer is set' : `${timers.size} timers are set: ${dues.join(', ')}`,
      ...(troupe?.inside.doings ?? []),
    ];
    return new Error(
      `The promise has not settled within ${digitGroups(limitMs)} ms of the clock: ${found.join('; ')}.`,
    );
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
    runUntil: async (promise, options = {}) => {
      requireKnown('runUntil', options, { limitMs: true, graceMs: true, troupe: true });
      const { limitMs = 3_600_000, graceMs = 20, troupe } = options;
      const waited = { isSettled: false };
      const settle = (): void => void (waited.isSettled = true);
      promise.then(settle, settle);
      await loadAll();
      const end = now + limitMs;
      const isOver = async (): Promise<boolean> => {
        for (let turns = 0; turns < IDLE_TURNS && !waited.isSettled; turns += 1) await turn();
        return waited.isSettled;
      };
      for (let idle = 0; !(await isOver());) {
        const next = due(Infinity);
        const mayBeLimit = next === undefined || next.at - now >= MAY_BE_LIMIT_MS;
        if (mayBeLimit) await pause(graceMs);
        if (waited.isSettled || due(Infinity) !== next) continue;
        idle = next === undefined ? idle + 1 : 0;
        if (next !== undefined && next.at <= end) await move(next.at - now);
        else if (next !== undefined || idle * graceMs >= PATIENCE_MS) throw stuck(limitMs, troupe);
      }
      return promise;
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
