/** How the services of a gateway end: what is in flight may finish. */

/** How calls in flight end. */
export interface DrainOptions {
  /** Most milliseconds that they may go on; 0 gives them up at once, and so does a second `close()`. Default 10,000. */
  readonly drainMs?: number;
}

export const DEFAULT_DRAIN_MS = 10_000;

/** Why a request is refused meanwhile. */
export const SHUTTING_DOWN = 'The gateway is shutting down.';
