/**
 * What went wrong, as data, and what that means for the connection.
 *
 * Owns the vocabulary of failures and the verdict on each. An effect settles with a `Failure`; the chart asks
 * `classify` and obeys. Nothing here starts, waits or reads a clock.
 */

/** Stable codes of everything that can end an attempt or a session. */
export const FAILURE_CODES = [
  /** The entry of the server cannot be used. */
  'config-invalid',
  /** The entry names a variable that has no value. */
  'variable-missing',
  /** The entry comes from a project file, and a person or the trust policy refused it. */
  'trust-denied',
  /** No program of the name in `command` was found. */
  'command-not-found',
  /** The file in `command` exists, but may not or cannot be executed. */
  'command-not-executable',
  /** The folder in `cwd` does not exist. */
  'cwd-not-found',
  /** The process could not be started for another reason, or the function that makes an in-process server threw. */
  'spawn-failed',
  /** The process of the server ended. `exit` has the exit code or the signal. */
  'process-exited',
  /** The server closed its standard output while its process still ran. */
  'stdout-closed',
  /** No connection to the address: refused, unreachable, unknown host or a TLS error. */
  'address-refused',
  /** The server answered with an HTTP status that MCP does not expect. `http` has it. */
  'http-status',
  /** Something answers at the address, but does not speak MCP: a web page, for instance. */
  'http-not-mcp',
  /** The HTTP server does not know the session any more (MCP 2025-11-25, Transports, Session Management). */
  'session-expired',
  /** The server wants credentials, or refused the ones it got (HTTP 401). */
  'auth-required',
  /** The connection broke, or the session was closed. */
  'connection-lost',
  /** The server was not started or reached within the limit. */
  'launch-timeout',
  /** `initialize` was not answered within the limit. */
  'handshake-timeout',
  /** The first list of tools was not complete within the limit. */
  'list-timeout',
  /** The server wants a version of MCP that Troupe does not speak. */
  'protocol-version',
  /** The server answered with something that MCP does not allow. */
  'protocol-error',
  /** The server answered a request of the start with a JSON-RPC error, or gave up the task of a call. `rpcCode` has the code of an error. */
  'server-error',
  /** An answer was larger than the limit for one message. */
  'message-too-large',
  /** The server did not answer a ping in time. */
  'unresponsive',
  /** The old session is not proven gone, so no new one is opened. */
  'not-released',
  /** The session was lost too often in a short time: see `restartIntensity` of the policy. */
  'crash-loop',
  /** The server runs once in the fleet, and the troupe has no `fleet`. */
  'needs-fleet',
  /** The server runs once in the fleet, and this host neither has its lease nor can reach the host that has it. */
  'no-lease',
  /** The server runs once in the fleet, and its lease has moved to another host, or ended. */
  'lease-lost',
  /** An error in Troupe itself. */
  'internal',
] as const;

/** One of `FAILURE_CODES`: what went wrong, as a stable word. */
export type FailureCode = (typeof FAILURE_CODES)[number];

/** The part of a connection's life in which a failure happened. */
export type FailurePhase = 'configure' | 'launch' | 'handshake' | 'list' | 'session' | 'release';

/** How a child process ended. Exactly one of the two is not null. */
export interface ProcessExit {
  /** Exit code; null if a signal ended the process. */
  readonly code: number | null;
  /** Name of the signal that ended the process, for instance `SIGKILL`; null if it exited. */
  readonly signal: string | null;
}

/** The refusal of an HTTP server. */
export interface HttpRefusal {
  /** Status code of the response (RFC 9110 section 15). */
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
  /** What went wrong, for programs. */
  readonly code: FailureCode;
  /** One sentence a person can act on. Never holds a secret. */
  readonly message: string;
  /** Part of the connection's life in which it happened. */
  readonly phase: FailurePhase;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** How to fix it, if known. */
  readonly hint?: string;
  /** Address of the session that failed, without credentials or query. */
  readonly url?: string;
  /** How the process of the server ended, if it did. */
  readonly exit?: ProcessExit;
  /** What the HTTP server answered, if it refused. */
  readonly http?: HttpRefusal;
  /** False if the server asks for a sign-in and Troupe cannot begin one: no `auth` option covers the server. */
  readonly canSignIn?: false;
  /** The JSON-RPC error code the server answered with. */
  readonly rpcCode?: number;
  /** The first and last lines that the server wrote to stderr, at most 20. */
  readonly stderrTail?: readonly string[];
  /** The same of stdout, if it wrote lines there before any message. */
  readonly stdoutTail?: readonly string[];
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
  'needs-fleet',
  'internal',
]);

/** HTTP statuses that mean "later", whatever the method: RFC 9110 sections 15.5.9 and 15.6, RFC 8470 section 5.2, RFC 6585 section 4. */
function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/**
 * The verdict on a failure: what to do next. Every failure has exactly one.
 *
 * @param failure The record of the failure; its `code` decides, and for `http-status` also the status.
 *
 * @example
 * ```ts
 * import { classify, toFailure } from 'mcp-troupe/machines';
 *
 * console.log(classify(toFailure({ code: 'process-exited', message: 'It exited.' })));
 * ```
 */
export function classify(failure: Failure): Verdict {
  if (failure.code === 'auth-required') return 'authorize';
  if (failure.code === 'session-expired' || failure.code === 'lease-lost') return 'renew';
  if (PERMANENT.has(failure.code)) return 'permanent';
  if (failure.code === 'http-status' && failure.http !== undefined) {
    return isTransientStatus(failure.http.status) ? 'retry' : 'permanent';
  }
  return 'retry';
}

const THERE_BEFORE =
  'The server was there before. Until it is back, it is tried again like any that was lost.';

/**
 * What a failure means at an address where the server was ready before: a page, a redirect, or a router that knows no
 * such path stands in for a server that is away, for instance during a deployment. Such a failure can be retried.
 */
export function seenAtProvenUrl(failure: Failure, provenUrl: string | null): Failure {
  if (provenUrl === null || failure.url !== provenUrl || !isOfStandIn(failure)) return failure;
  // The path was right before, whatever the hint says.
  const hint = failure.http?.status === 404 ? THERE_BEFORE : (failure.hint ?? THERE_BEFORE);
  return { ...failure, code: 'connection-lost', hint };
}

function isOfStandIn({ code, http }: Failure): boolean {
  if (code === 'http-not-mcp') return true;
  const status = http?.status ?? 0;
  return code === 'http-status' && ((status >= 300 && status < 400) || status === 404 || status === 405);
}

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isLines = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const orNull =
  (fits: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || fits(value);
const has =
  (shape: Shape) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(shape).every(([name, fits]) => own(value, name) === undefined || fits(own(value, name)));

const PHASES: readonly FailurePhase[] = ['configure', 'launch', 'handshake', 'list', 'session', 'release'];

/** The fields that may be absent; one that is undefined counts as absent. */
const REST: Shape = {
  phase: (value) => (PHASES as readonly unknown[]).includes(value),
  at: isNumber,
  hint: isText,
  url: isText,
  exit: has({ code: orNull(isNumber), signal: orNull(isText) }),
  http: has({ status: isNumber, bodyStart: isText, wwwAuthenticate: isText, retryAfterMs: isNumber }),
  canSignIn: (value) => value === false,
  rpcCode: isNumber,
  stderrTail: isLines,
  stdoutTail: isLines,
};

/** A record in an event log may have been written by anybody, so every field is checked. */
function isFailure(value: unknown): value is Failure {
  return (
    typeof value === 'object' &&
    value !== null &&
    (FAILURE_CODES as readonly unknown[]).includes(own(value, 'code')) &&
    isText(own(value, 'message')) &&
    has(REST)(value)
  );
}

function own(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/**
 * Reads the error of an effect. Anything but a failure record is a bug of the effect, with the code
 * `internal`.
 *
 * @param value What was thrown, of any type. A failure is returned as it is.
 *
 * @example
 * ```ts
 * import { toFailure } from 'mcp-troupe/machines';
 *
 * console.log(toFailure(new Error('unexpected')).code); // internal
 * ```
 */
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
