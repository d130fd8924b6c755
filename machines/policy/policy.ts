/**
 * The numbers a connection lives by, as plain JSON. They enter a machine as input and are never looked up again.
 * All durations are milliseconds; 0 means "no limit" where a limit is meant.
 */

export interface ConnectionPolicy {
  /** Limit on starting the process or reaching the address. */
  readonly launchTimeoutMs: number;
  /** Limit on `initialize`. */
  readonly handshakeTimeoutMs: number;
  /** Limit on a list of the catalog, all pages together. */
  readonly listTimeoutMs: number;
  /** Limit on proving that an old session is gone; past it the connection fails with `not-released`. */
  readonly releaseTimeoutMs: number;
  /** First tries and retries in one round before the connection gives up. At least 1. */
  readonly maxAttempts: number;
  readonly backoff: BackoffOptions;
  readonly intensity: RestartIntensity;
  /** Time in `ready` after which the attempts of the past are forgotten. */
  readonly stableMs: number;
  /** The first retry after `ready` is immediate unless another loss happened within this time. */
  readonly immediateRetryWindowMs: number;
  readonly exhausted: ExhaustedPolicy;
  /** A silent server is pinged after `idleMs`; no answer within `timeoutMs` is a miss, and a second one a loss. */
  readonly ping: { readonly idleMs: number; readonly timeoutMs: number };
  /** Changes of the catalog are collected until none came for `debounceMs`, but no longer than `maxWaitMs`. */
  readonly listChanged: { readonly debounceMs: number; readonly maxWaitMs: number };
  readonly stop: StopPolicy;
  /** Idle time after which a lazy connection is stopped and becomes dormant. 0 = never. */
  readonly idleStopMs: number;
}

/** Exponential with full jitter (`maxMs` 0 = no ceiling), or a fixed schedule without jitter whose last delay repeats. */
export type BackoffOptions =
  | {
      readonly kind: 'exponential';
      readonly firstMs: number;
      readonly factor: number;
      readonly maxMs: number;
    }
  | { readonly kind: 'fixed'; readonly delaysMs: readonly number[] };

/**
 * The loss that makes it `restarts` within `periodMs` ends the round as a crash loop (after the OTP supervisor flags
 * `intensity` and `period`). 0 restarts = no limit.
 */
export interface RestartIntensity {
  readonly restarts: number;
  readonly periodMs: number;
}

/** One more try, after every attempt of a round has failed for a cause that may pass. Never after a permanent failure. */
export interface ExhaustedPolicy {
  /** A call causes one where the last attempt failed at least this long ago. */
  readonly callAfterMs: number;
  /** A remote server gets one this often, a quarter more or less. 0 = never. */
  readonly remoteEveryMs: number;
}

/** The ladder of an orderly end. */
export interface StopPolicy {
  /** In-flight calls may finish within this time. */
  readonly drainMs: number;
  /** Time for a session DELETE (HTTP). */
  readonly deleteMs: number;
  /** Time after the end of stdin before SIGTERM goes to the group. */
  readonly stdinEndMs: number;
  /** Time after SIGTERM before the whole tree is killed. */
  readonly termMs: number;
}

export const DEFAULT_POLICY: ConnectionPolicy = {
  launchTimeoutMs: 30_000,
  handshakeTimeoutMs: 30_000,
  listTimeoutMs: 30_000,
  releaseTimeoutMs: 5_000,
  maxAttempts: 5,
  backoff: { kind: 'exponential', firstMs: 1_000, factor: 2, maxMs: 30_000 },
  intensity: { restarts: 5, periodMs: 30_000 },
  stableMs: 60_000,
  immediateRetryWindowMs: 60_000,
  exhausted: { callAfterMs: 30_000, remoteEveryMs: 60_000 },
  ping: { idleMs: 30_000, timeoutMs: 5_000 },
  listChanged: { debounceMs: 300, maxWaitMs: 2_000 },
  stop: { drainMs: 1_000, deleteMs: 2_000, stdinEndMs: 1_000, termMs: 1_000 },
  idleStopMs: 0,
};
