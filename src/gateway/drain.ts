/** How the services of a gateway end: requests in flight may finish. */

/** How calls in flight end. */
export interface DrainOptions {
  /**
   * Maximum time for calls in flight, in milliseconds. 0 aborts them at once, and so does a second `close()`.
   * Default 10,000.
   */
  readonly gracePeriodMs?: number;
}

export const DEFAULT_GRACE_PERIOD_MS = 10_000;

/** Why a request is refused while the gateway closes. */
export const SHUTTING_DOWN = 'The gateway is shutting down.';
