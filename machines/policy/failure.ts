/**
 * What went wrong, as data, and what that means for the connection.
 *
 * Owns the vocabulary of failures and the verdict on each. An effect settles with a `Failure`; the chart asks
 * `classify` and obeys. Nothing here starts, waits or reads a clock.
 */

/** Stable codes of everything that can end an attempt or a session. */
export const FAILURE_CODES = [
  'config-invalid',
  'variable-missing',
  'trust-denied',
  'command-not-found',
  'command-not-executable',
  'cwd-not-found',
  'spawn-failed',
  'process-exited',
  'stdout-closed',
  'address-refused',
  'http-status',
  'http-not-mcp',
  'session-expired',
  'auth-required',
  'connection-lost',
  'launch-timeout',
  'handshake-timeout',
  'list-timeout',
  'protocol-version',
  'protocol-error',
  'server-error',
  'message-too-large',
  'unresponsive',
  'not-released',
  'crash-loop',
  'internal',
] as const;

export type FailureCode = (typeof FAILURE_CODES)[number];

/** The part of a connection's life in which a failure happened. */
export type FailurePhase = 'configure' | 'launch' | 'handshake' | 'list' | 'session' | 'release';

/** How a child process ended. Exactly one of the two is not null. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** What an HTTP server said when it refused. */
export interface HttpRefusal {
  readonly status: number;
  /** The first bytes of the body, as text, at most 500 characters. */
  readonly bodyStart?: string;
  /** The `WWW-Authenticate` header (RFC 9110 section 11.6.1). */
  readonly wwwAuthenticate?: string;
  /** Milliseconds asked for by `Retry-After` (RFC 9110 section 10.2.3). */
  readonly retryAfterMs?: number;
}

/** A failure as plain JSON: it travels in events, context, logs and status. */
export interface Failure {
  readonly code: FailureCode;
  /** One sentence a person can act on. Never holds a secret. */
  readonly message: string;
  readonly phase: FailurePhase;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What to do about it, where that is known. */
  readonly hint?: string;
  readonly exit?: ProcessExit;
  readonly http?: HttpRefusal;
  /** The JSON-RPC error code the server answered with. */
  readonly rpcCode?: number;
  /** The last lines the server wrote to stderr. */
  readonly stderrTail?: readonly string[];
}

/**
 * - `retry`: the same attempt may work later.
 * - `renew`: only the session is gone; a new one is expected to work at once.
 * - `authorize`: a person, or fresh credentials, are needed; it counts no attempt.
 * - `permanent`: trying again cannot help until a person changes something.
 */
export type Verdict = 'retry' | 'renew' | 'authorize' | 'permanent';

const PERMANENT: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'config-invalid',
  'variable-missing',
  'trust-denied',
  'command-not-found',
  'command-not-executable',
  'cwd-not-found',
  'http-not-mcp',
  'protocol-version',
  'not-released',
  'crash-loop',
  'internal',
]);

/** HTTP statuses that mean "later", whatever the method: RFC 9110 sections 15.5.9 and 15.6, RFC 8470 section 5.2, RFC 6585 section 4. */
function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** The verdict on one failure. Total: every failure has exactly one. */
export function classify(failure: Failure): Verdict {
  if (failure.code === 'auth-required') return 'authorize';
  if (failure.code === 'session-expired') return 'renew';
  if (PERMANENT.has(failure.code)) return 'permanent';
  if (failure.code === 'http-status' && failure.http !== undefined) {
    return isTransientStatus(failure.http.status) ? 'retry' : 'permanent';
  }
  return 'retry';
}

function isFailure(value: unknown): value is Failure {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    'message' in value &&
    (FAILURE_CODES as readonly unknown[]).includes(value.code)
  );
}

/** Reads what an effect rejected with. Anything but a failure record is a bug of that effect and told as `internal`. */
export function toFailure(value: unknown): Failure {
  if (isFailure(value)) return value;
  const message = value instanceof Error ? value.message : typeof value;
  return {
    code: 'internal',
    message: `An effect failed without a record: ${message}`,
    phase: 'session',
    at: 0,
  };
}
