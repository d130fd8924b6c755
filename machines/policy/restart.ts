/**
 * How often a connection may be lost before it gives up, and which loss is retried at once.
 *
 * Owns both rules as arithmetic over past times; the chart keeps the times and gives the present one. Times are
 * milliseconds since the epoch. A clock may be set back, so distance counts and not direction: a time far in the future is
 * as irrelevant as one long past.
 */
import type { RestartIntensity } from './policy.js';

/** Recent losses of a connection, measured against its restart intensity. */
export interface RestartRecord {
  /** The losses that still count, oldest first, this one included. Never more than the intensity needs. */
  readonly times: readonly number[];
  /** The connection is in a crash loop. */
  readonly exceeded: boolean;
}

/**
 * Adds a loss and forgets those older than the period; one that is exactly a period old still counts, as in an OTP
 * supervisor. Unlike in OTP, reaching the limit is a crash loop: with 5 restarts in 30 s, the fifth loss within 30 s
 * exceeds. `restarts: 1` therefore allows no loss, and a number that is not positive means no limit.
 *
 * @param times Earlier losses: `times` of the last record, or an empty list. Milliseconds since the epoch.
 * @param at When the connection was lost, milliseconds since the epoch.
 * @param intensity How many losses, within which period, are a crash loop: `intensity` of the policy.
 *
 * @example
 * ```ts
 * import { recordRestart } from 'mcp-troupe/machines';
 *
 * const intensity = { restarts: 2, periodMs: 30_000 };
 * const { times } = recordRestart([], 0, intensity);
 * console.log(recordRestart(times, 30_000, intensity).exceeded); // true
 * ```
 */
export function recordRestart(
  times: readonly number[],
  at: number,
  intensity: RestartIntensity,
): RestartRecord {
  if (!(intensity.restarts > 0)) return { times: [], exceeded: false };
  const recent = [...recentOf(times, at, intensity), at];
  return {
    times: recent.slice(-Math.ceil(intensity.restarts)),
    exceeded: recent.length >= intensity.restarts,
  };
}

/** Whether as many as `restarts` have happened within the period before `at`. */
export function isReached(times: readonly number[], at: number, intensity: RestartIntensity): boolean {
  return intensity.restarts > 0 && recentOf(times, at, intensity).length >= intensity.restarts;
}

function recentOf(times: readonly number[], at: number, { periodMs }: RestartIntensity): readonly number[] {
  return times.filter((time) => Math.abs(at - time) <= periodMs);
}

/**
 * Whether the first retry after a loss needs no delay: there was no other loss within the window, including its end.
 *
 * @param lastLossAt When the connection was lost before, milliseconds since the epoch; null if it never was.
 * @param at When it was lost now, milliseconds since the epoch.
 * @param windowMs Length of the window in milliseconds; a loss exactly that long ago is still within it.
 *
 * @example
 * ```ts
 * import { isImmediateRetry } from 'mcp-troupe/machines';
 *
 * console.log(isImmediateRetry(0, 60_000, 30_000)); // true
 * ```
 */
export function isImmediateRetry(lastLossAt: number | null, at: number, windowMs: number): boolean {
  return lastLossAt === null || Math.abs(at - lastLossAt) > windowMs;
}
