/**
 * How long the holder of a lease may rely on it, as arithmetic. Milliseconds; every clock is the holder's own.
 *
 * T1. The time begins when the question was sent, not when its answer came.
 * T2. It ends a margin before the lease does: what holds the lease must be gone by then.
 * T3. Of the steady clock and the wall clock, the one on which more time has passed counts. The steady clock stands still while
 *     a machine is suspended, and the wall clock may be set back.
 */

/** The delays of a lease. */
export interface LeasePolicy {
  /** How long a lease lasts without a renewal, milliseconds. */
  readonly ttlMs: number;
  /** Pause between two renewals, milliseconds. */
  readonly renewMs: number;
  /** Pause after a renewal that failed, milliseconds. */
  readonly retryMs: number;
  /** Pause between two requests for a lease that another host has, milliseconds. */
  readonly askMs: number;
}

/** A reading of both clocks, milliseconds. */
export interface Reading {
  /** A clock that is never set. */
  readonly steady: number;
  /** Time since the epoch. */
  readonly wall: number;
}

const MARGIN = 0.05;
const LEAST_MARGIN_MS = 200;
const ASK_MS = { least: 100, most: 2_000 };

export function leasePolicy(ttlMs: number): LeasePolicy {
  const short = ttlMs / 20;
  return {
    ttlMs,
    renewMs: ttlMs / 3,
    retryMs: short,
    askMs: Math.min(Math.max(short, ASK_MS.least), ASK_MS.most),
  };
}

/** What is left of the time in which the holder may rely on a lease; 0 or less if it is over. */
export function leaseLeftMs(ttlMs: number, sent: Reading, now: Reading): number {
  const passed = Math.max(now.steady - sent.steady, now.wall - sent.wall);
  return ttlMs - Math.max(ttlMs * MARGIN, LEAST_MARGIN_MS) - passed;
}
