/**
 * How long to wait before the next try.
 *
 * Owns only the arithmetic: the chart decides which retry it is, and whether to wait at all.
 *
 * B1. Total: whatever the numbers, the delay is a whole number from 0 to `MAX_DELAY_MS`.
 * B2. Only a delay with jitter draws from the seed; a fixed one returns it unchanged.
 */
import type { BackoffOptions } from './policy.js';
import { nextRandom } from './seeded-random.js';

/** A delay with jitter, and the seed for the next one. */
export interface Delay {
  /** Milliseconds to wait. */
  readonly delayMs: number;
  /** The seed of the next draw. */
  readonly seed: number;
}

/** The longest delay of a Node or browser timer (2^31 - 1 ms, about 24.8 days); a longer one would fire at once. */
export const MAX_DELAY_MS = 2_147_483_647;

function toWholeDelay(ms: number): number {
  return ms > 0 ? Math.min(Math.round(ms), MAX_DELAY_MS) : 0;
}

function toRetryNumber(retry: number): number {
  return retry >= 1 ? Math.min(Math.floor(retry), Number.MAX_SAFE_INTEGER) : 1;
}

/**
 * A delay drawn evenly from the whole milliseconds 0 to `spanMs`, both included.
 *
 * @param spanMs Longest delay in milliseconds. Rounded to a whole number; anything that is not positive counts as 0,
 *   anything above 2^31 - 1 as 2^31 - 1.
 * @param seed The seed of this draw: any number. The result has the next one.
 *
 * @example
 * ```ts
 * import { jitterOver } from 'mcp-troupe/machines';
 *
 * const { delayMs, seed } = jitterOver(1_000, 42); // the next draw takes this seed
 * ```
 */
export function jitterOver(spanMs: number, seed: number): Delay {
  const draw = nextRandom(seed);
  return { delayMs: Math.floor(draw.value * (toWholeDelay(spanMs) + 1)), seed: draw.seed };
}

/**
 * The delay before retry `retry`: 1 is the first one after a failure, and anything below 1 counts as 1.
 *
 * - `exponential`: `firstMs * factor^(retry - 1)`, at most `maxMs`, of which the share `jitter` is drawn evenly: from 0 with
 *   the default, full jitter. A `maxMs` that is not positive means no ceiling; a `factor` that is not positive counts as 1; a
 *   `jitter` below 0 counts as 0, and one above 1 counts as 1.
 * - `fixed`: the delay at that place of the list, without jitter; the last one repeats, an empty list means 0.
 *
 * @param at Which retry it is, and the seed of its jitter.
 * @param options How delays grow: `backoff` of the policy.
 *
 * @example
 * ```ts
 * import { backoffDelay, DEFAULT_POLICY } from 'mcp-troupe/machines';
 *
 * const first = backoffDelay({ retry: 1, seed: 42 }, DEFAULT_POLICY.backoff);
 * const second = backoffDelay({ retry: 2, seed: first.seed }, DEFAULT_POLICY.backoff);
 * ```
 */
export function backoffDelay(
  at: {
    /** Number of the retry since the failure, from 1. Anything below 1 counts as 1. */
    readonly retry: number;
    /** The seed of the jitter: any number. The result has the next one. */
    readonly seed: number;
  },
  options: BackoffOptions,
): Delay {
  const retry = toRetryNumber(at.retry);
  if (options.kind === 'fixed') {
    const place = Math.min(retry, options.delaysMs.length) - 1;
    return { delayMs: toWholeDelay(options.delaysMs[place] ?? 0), seed: at.seed };
  }
  const factor = options.factor > 0 ? options.factor : 1;
  const ceilingMs = options.maxMs > 0 ? options.maxMs : MAX_DELAY_MS;
  const mostMs = Math.min(options.firstMs * factor ** (retry - 1), ceilingMs);
  const share = Math.min(1, Math.max(0, options.jitter ?? 1));
  const drawn = jitterOver(mostMs * share, at.seed);
  return { delayMs: toWholeDelay(mostMs * (1 - share)) + drawn.delayMs, seed: drawn.seed };
}
