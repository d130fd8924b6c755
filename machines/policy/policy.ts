/**
 * The limits and delays of a connection, as plain JSON. They enter a machine as input and are never looked up again.
 * Durations are milliseconds; a limit of 0 means "no limit".
 */

/** The limits and delays of one connection. Durations are milliseconds; a limit of 0 means "no limit". */
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
  /** The same for a remote server that was ready before and is unavailable now. Default: `maxAttempts`. */
  readonly maxAttemptsOnceReady?: number;
  /**
   * Delays between the attempts of a round: exponential with jitter (`maxMs` 0 = no ceiling), or a fixed schedule
   * without jitter. The last delay of a schedule repeats.
   */
  readonly backoff: BackoffOptions;
  /** A round ends as a crash loop at loss number `restarts` within `periodMs`, as in an OTP supervisor. */
  readonly intensity: RestartIntensity;
  /** The connection fails if the server still refuses its token after this many sign-ins within the period. 0 = no limit. */
  readonly signIns: RestartIntensity;
  /** Time in `ready` after which the attempts of the past are forgotten. */
  readonly stableMs: number;
  /** The first retry after `ready` is immediate unless another loss happened within this time. */
  readonly immediateRetryWindowMs: number;
  /**
   * Another attempt, after every attempt of a round has failed for a cause that may be temporary. Never after
   * a permanent failure.
   */
  readonly exhausted: ExhaustedPolicy;
  /** The session is lost after this many exchanges in a row have failed to reach a remote server. At least 1. */
  readonly maxUnreachable: number;
  /**
   * The stream of changes of a server of the new era (MCP 2026-07-28) is given up after it was opened again this often in a
   * row without lasting 30 s. At least 1.
   */
  readonly maxSubscriptionTries: number;
  /** A silent server is pinged. A ping without an answer is a miss, and a second miss ends the session. */
  readonly ping: {
    /** Milliseconds of silence after which a ping is sent. 0 = never. */
    readonly idleMs: number;
    /** Milliseconds to wait for the answer. No answer is a miss, and a second miss ends the session. */
    readonly timeoutMs: number;
  };
  /** Changes of the catalog are collected until none came for `debounceMs`, but no longer than `maxWaitMs`. */
  readonly listChanged: {
    /** Milliseconds without a further change after which the list is read. */
    readonly debounceMs: number;
    /** Milliseconds after the first change at which the list is read in any case. */
    readonly maxWaitMs: number;
  };
  /** A step of an orderly stop. */
  readonly stop: StopPolicy;
  /** Idle time after which a lazy connection is stopped and becomes dormant. 0 = never. */
  readonly idleStopMs: number;
}

/**
 * Exponential with jitter (`maxMs` 0 = no ceiling), or a fixed schedule without jitter. The last delay of a schedule
 * repeats.
 */
export type BackoffOptions =
  /** Each delay is drawn evenly from 0 to a limit that grows with every retry. */
  | {
      readonly kind: 'exponential';
      /** Limit of the first delay, in milliseconds. */
      readonly firstMs: number;
      /** Factor by which the limit is multiplied after each retry. */
      readonly factor: number;
      /** The limit grows no further than this, in milliseconds. 0 = no ceiling. */
      readonly maxMs: number;
      /** Share of a delay that is random, from 0 to 1. Default 1: anything up to the full length. */
      readonly jitter?: number;
    }
  /** The delays are fixed. */
  | {
      readonly kind: 'fixed';
      /** Delay before each retry, in milliseconds. The last one repeats; an empty list means 0. */
      readonly delaysMs: readonly number[];
    };

/**
 * The round ends as a crash loop at the loss that is number `restarts` within `periodMs` (after the OTP supervisor flags
 * `intensity` and `period`). 0 restarts = no limit.
 */
export interface RestartIntensity {
  /** Number of losses. 0 = no limit. */
  readonly restarts: number;
  /** Length of the period, in milliseconds. */
  readonly periodMs: number;
}

/**
 * Another attempt, after every attempt of a round has failed for a cause that may be temporary. Never after a
 * permanent failure.
 */
export interface ExhaustedPolicy {
  /** A call causes another attempt if the last one failed at least this long ago. */
  readonly callAfterMs: number;
  /** A remote server is retried this often, give or take a quarter. 0 = never. */
  readonly remoteEveryMs: number;
}

/** Time limits of the steps of an orderly stop, in milliseconds. */
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

/** The policy of a connection if neither the troupe nor the entry overrides it. */
export const DEFAULT_POLICY: ConnectionPolicy = {
  launchTimeoutMs: 30_000,
  handshakeTimeoutMs: 30_000,
  listTimeoutMs: 30_000,
  releaseTimeoutMs: 5_000,
  maxAttempts: 5,
  backoff: { kind: 'exponential', firstMs: 1_000, factor: 2, maxMs: 30_000 },
  intensity: { restarts: 5, periodMs: 30_000 },
  signIns: { restarts: 3, periodMs: 60_000 },
  stableMs: 60_000,
  immediateRetryWindowMs: 60_000,
  exhausted: { callAfterMs: 30_000, remoteEveryMs: 60_000 },
  maxUnreachable: 2,
  maxSubscriptionTries: 8,
  ping: { idleMs: 30_000, timeoutMs: 5_000 },
  listChanged: { debounceMs: 300, maxWaitMs: 2_000 },
  stop: { drainMs: 1_000, deleteMs: 2_000, stdinEndMs: 1_000, termMs: 1_000 },
  idleStopMs: 0,
};

/**
 * What differs for a remote server: an attempt costs little, and a server that was there is usually back within a minute or
 * two. At most half of each delay is random, so 40 attempts always take more than a minute.
 */
export const REMOTE_POLICY: Pick<ConnectionPolicy, 'maxAttemptsOnceReady' | 'backoff' | 'exhausted'> = {
  maxAttemptsOnceReady: 40,
  backoff: { kind: 'exponential', firstMs: 1_000, factor: 2, maxMs: 4_000, jitter: 0.5 },
  exhausted: { callAfterMs: 2_000, remoteEveryMs: 20_000 },
};
