/** An attempt without an answer: its outcome, its error, and whether its session broke. */
import type { FailureCode } from '../../machines/policy/failure.js';
import { isJsonObject } from '../json/json-object.js';
import { cutText } from '../text/visible-text.js';
import {
  AuthRequiredError,
  CallAbortedError,
  CallTimeoutError,
  NotReadyError,
  OutcomeUnknownError,
  JsonRpcError,
  type TroupeError,
} from '../errors.js';
import type { CallOutcome } from '../lifecycle/event.js';
import { RequestLostError, RpcError } from '../protocol/protocol-client.js';
import { messageOf } from '../text/error-message.js';
import type { RawFailure } from '../failures/transport-error.js';
import { unsendable } from './call-problem.js';
import type { CallRoute } from './call-route.js';
import { Aborted, TimedOut } from './deadline.js';
import type { Subject } from './exchange.js';
import { maskFailure, maskJson, type Mask } from '../secrets/secrets.js';
import type { Session } from '../sessions/sessions.js';

export interface Judgement {
  readonly outcome: CallOutcome;
  readonly error: TroupeError | TypeError;
}

/** Failures of the answer itself, not of the connection. */
const UNREADABLE: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'http-not-mcp',
  'message-too-large',
  'protocol-error',
]);

/** One attempt to send a request. */
export interface Attempt {
  readonly subject: Subject;
  /** When it failed, milliseconds since the epoch. */
  readonly at: number;
  /** JSON-RPC id of its request; undefined if nothing was sent. */
  readonly requestId: number | undefined;
}

/** The outcome of one attempt, judged by the error it failed with. */
function judge(error: unknown, server: string, { subject, at, requestId }: Attempt): Judgement {
  const about = { server, requestId };
  if (error instanceof TimedOut) {
    const { limitMs } = error;
    const kind = error.isTotal ? 'total' : 'idle';
    const message = timeoutMessage(error, subject, requestId);
    return { outcome: 'timed-out', error: new CallTimeoutError(message, { ...about, kind, limitMs }) };
  }
  if (error instanceof RpcError) {
    const { rpcCode, message, data } = error;
    const completed = `${message}${visitAdvice(error)}`;
    const thrown = new JsonRpcError(rpcCode, completed, { ...about, cause: error, data });
    return { outcome: 'server-error', error: thrown };
  }
  if (error instanceof Aborted) return { outcome: 'aborted', error: abortedError(server, subject) };
  const failure =
    error instanceof RequestLostError
      ? error.failure
      : { code: 'internal' as const, message: messageOf(error) };
  if (error instanceof RequestLostError && !error.written) {
    const problem = unsendable({ args: subject.args, meta: subject.options.meta });
    const message = `'${subject.label}' was not sent: ${failure.message}`;
    const cause = needsScope(failure)
      ? new AuthRequiredError({ ...failure, phase: 'session', at }, { server })
      : error;
    return { outcome: 'not-sent', error: problem ?? new NotReadyError(message, { server, cause }) };
  }
  const what = whatCame(failure, subject.label, requestId);
  const message = `${what}, so it is unknown whether it was done: ${failure.message}`;
  const thrown = new OutcomeUnknownError(
    { ...failure, message, phase: 'session', at },
    { ...about, cause: error },
  );
  return { outcome: 'outcome-unknown', error: thrown };
}

/** MCP 2025-11-25, Elicitation: a person must visit an address before the request can be made. */
const ELICITATION_NEEDED = -32042;

/** A sentence with the addresses that a person has to visit; empty if there are none. */
function visitAdvice({ rpcCode, message, data }: RpcError): string {
  const { elicitations } = rpcCode === ELICITATION_NEEDED && isJsonObject(data) ? data : {};
  const given = Array.isArray(elicitations) ? elicitations.filter(isJsonObject) : [];
  const addresses = given
    .map(({ url }) => url)
    .filter((url): url is string => typeof url === 'string' && !message.includes(url));
  return addresses.length === 0
    ? ''
    : ` Visit ${cutText(addresses.join(' and '), 2_000)}, then call it again.`;
}

/** The server refused this request because the sign-in does not cover it. */
function needsScope({ http }: RawFailure): boolean {
  return http?.status === 403 && /\binsufficient_scope\b/.test(http.wwwAuthenticate ?? '');
}

/** What is known to have come instead of an answer. */
function whatCame({ code, http }: RawFailure, label: string, requestId: number | undefined): string {
  const request = inWords(label, requestId);
  if (code === 'http-status' && http !== undefined) {
    return `${request} got HTTP ${http.status} instead of an answer`;
  }
  if (code === 'server-error') return `${request} became a task without a known end`;
  return UNREADABLE.has(code)
    ? `The answer to ${request} could not be read`
    : `The connection was lost before ${request} was answered`;
}

/** Whether an attempt may have reached the server, which accepted or refused it. */
export function mayHaveArrived({ outcome, error: { cause } }: Judgement): boolean {
  if (outcome !== 'not-sent') return true;
  return !(cause instanceof RequestLostError) || cause.failure.http !== undefined;
}

/** The error of a request that got no session. `lost`: an earlier attempt, if there was one. */
export function unreached(route: CallRoute, subject: Subject, cause: unknown, lost?: Judgement): TroupeError {
  const { server } = route;
  if (cause instanceof Aborted) return abortedError(server, subject);
  const isLate = cause instanceof TimedOut;
  const known = isLate ? (route.lastFailure() ?? lost?.error.cause) : cause;
  const why = isLate
    ? `it did not become ready within ${cause.limitMs} ms`
    : `${messageOf(cause)}${route.retryHint()}`;
  const reason = isLate && known !== undefined ? messageOf(known) : '';
  if (lost?.error instanceof OutcomeUnknownError) {
    const { failure, requestId, cause: loss } = lost.error;
    const more = failure.message.includes(reason) ? '' : `: ${reason}`;
    const message = `${failure.message} It was not repeated: ${why}${more}`;
    return new OutcomeUnknownError({ ...failure, message }, { server, requestId, cause: loss });
  }
  const message = `'${subject.label}' was not sent: ${why}${reason === '' ? '' : `: ${reason}`}`;
  return new NotReadyError(message, { server, cause: known });
}

/** The error of a request whose turn did not come. */
export function outOfTurn({ server, turns }: CallRoute, subject: Subject, cause: unknown): TroupeError {
  if (!(cause instanceof TimedOut)) return abortedError(server, subject);
  const why = `its turn did not come within ${cause.limitMs} ms (calls in progress: ${turns.taken})`;
  return new NotReadyError(`'${subject.label}' was not sent: ${why}.`, { server });
}

/** The error of a request that was given up while it was made ready. */
export function unmade({ server }: CallRoute, subject: Subject, cause: unknown): TroupeError {
  if (!(cause instanceof TimedOut)) return abortedError(server, subject);
  const why = `the hooks of the host did not finish within ${cause.limitMs} ms`;
  return new NotReadyError(`'${subject.label}' was not sent: ${why}.`, { server });
}

function abortedError(server: string, { label, options }: Subject): CallAbortedError {
  const cause: unknown = options.signal?.reason;
  return new CallAbortedError(`The call of '${label}' was aborted.`, { server, cause });
}

function timeoutMessage(
  { limitMs, isTotal }: TimedOut,
  { label }: Subject,
  requestId: number | undefined,
): string {
  const what = isTotal
    ? `no answer within the ${limitMs} ms of the whole call`
    : `no answer or progress for ${limitMs} ms`;
  return `${inWords(label, requestId)} timed out: ${what}; it was cancelled at the server.`;
}

function inWords(label: string, requestId: number | undefined): string {
  return requestId === undefined ? `'${label}'` : `'${label}' (request ${requestId})`;
}

/** A single exchange can fail with these while its session lives on. */
const BREAKS: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'connection-lost',
  'address-refused',
  // Its task is gone.
  'server-error',
]);

export class Unanswered implements Judgement {
  readonly outcome: CallOutcome;
  readonly error: Judgement['error'];

  constructor(
    { outcome, error }: Judgement,
    /** Its connection broke; the server did not refuse it. */
    readonly isLost: boolean,
  ) {
    this.outcome = outcome;
    this.error = error;
  }
}

/** Judges an attempt that failed with `error`; the result holds no secret. */
export function whyUnanswered(error: unknown, session: Session, mask: Mask, attempt: Attempt): Unanswered {
  const judgement = judgeAnything(error, mask, (known) => judge(known, session.key.name, attempt));
  const isLost = error instanceof RequestLostError && (!session.isUsable || BREAKS.has(error.failure.code));
  return new Unanswered(judgement, isLost);
}

/** The outcome stays unknown if not even the failure can be read. */
function judgeAnything(error: unknown, mask: Mask, judged: (error: unknown) => Judgement): Judgement {
  try {
    return judged(masked(error, mask));
  } catch {
    return judged(new Error("The server's answer cannot be shown."));
  }
}

/** The same error without secrets, as it becomes the cause of another. */
function masked(error: unknown, mask: Mask): unknown {
  if (error instanceof RpcError) {
    return new RpcError(error.rpcCode, mask(error.message), maskJson(error.data, mask), error.method);
  }
  if (error instanceof RequestLostError) {
    return new RequestLostError(maskFailure(error.failure, mask), error.written);
  }
  return error;
}
