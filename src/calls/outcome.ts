/** What a caller is told of a call without a result. */
import type { FailureCode } from '../../machines/policy/failure.js';
import {
  CallAbortedError,
  CallTimeoutError,
  NotReadyError,
  OutcomeUnknownError,
  ServerError,
  type TroupeError,
} from '../errors.js';
import type { CallOutcome } from '../lifecycle/event.js';
import { RequestLostError, RpcError } from '../protocol/protocol-client.js';
import { messageOf } from '../thrown.js';
import type { RawFailure } from '../transports/session-transport.js';
import { unsendable } from './call-problem.js';
import type { Call, CallRoute } from './call.js';
import { GivenUp, TimedOut } from './patience.js';

export interface Judgement {
  readonly outcome: CallOutcome;
  readonly error: TroupeError | TypeError;
}

/** What the errors of a call tell of it; another request can be told of in the same way. */
export type ToldCall = Pick<Call, 'tool' | 'args' | 'options'>;

/** Failures of what has come, not of what carried it. */
const UNREADABLE: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'http-not-mcp',
  'message-too-large',
  'protocol-error',
]);

/** The outcome of one sending, from what it failed with. */
export function judge(error: unknown, server: string, call: ToldCall, at: number): Judgement {
  if (error instanceof TimedOut) {
    return { outcome: 'timed-out', error: new CallTimeoutError(timeoutMessage(error, call), { server }) };
  }
  if (error instanceof RpcError) {
    const { rpcCode, message, data } = error;
    const thrown = new ServerError(rpcCode, message, { server, cause: error, data });
    return { outcome: 'server-error', error: thrown };
  }
  if (error instanceof GivenUp) return { outcome: 'aborted', error: abortedError(server, call) };
  const failure =
    error instanceof RequestLostError
      ? error.failure
      : { code: 'internal' as const, message: messageOf(error) };
  if (error instanceof RequestLostError && !error.written) {
    const problem = unsendable({ args: call.args, meta: call.options.meta });
    const message = `'${call.tool}' was not sent: ${failure.message}`;
    return { outcome: 'not-sent', error: problem ?? new NotReadyError(message, { server, cause: error }) };
  }
  const what = whatCame(failure, call.tool);
  const message = `${what}, so whether it was done is unknown: ${failure.message}`;
  const thrown = new OutcomeUnknownError(
    { ...failure, message, phase: 'session', at },
    { server, cause: error },
  );
  return { outcome: 'outcome-unknown', error: thrown };
}

/** What came instead of an answer, as far as it is known. */
function whatCame({ code, http }: RawFailure, tool: string): string {
  if (code === 'http-status' && http !== undefined) {
    return `'${tool}' got HTTP ${http.status} instead of an answer`;
  }
  return UNREADABLE.has(code)
    ? `The answer to '${tool}' could not be read`
    : `The connection was lost before '${tool}' was answered`;
}

/** Whether the server may know of a sending: it has taken it, or refused it, or nobody can tell. */
export function mayHaveArrived({ outcome, error: { cause } }: Judgement): boolean {
  if (outcome !== 'not-sent') return true;
  return !(cause instanceof RequestLostError) || cause.failure.http !== undefined;
}

/** The error of a call for which no session came; `lost` is a sending before, where there was one. */
export function unreached(route: CallRoute, call: ToldCall, cause: unknown, lost?: Judgement): TroupeError {
  const { server } = route;
  if (cause instanceof GivenUp) return abortedError(server, call);
  const isLate = cause instanceof TimedOut;
  const known = isLate ? (route.trouble() ?? lost?.error.cause) : cause;
  const why = isLate
    ? `it did not become ready within ${cause.limitMs} ms`
    : `${messageOf(cause)}${route.outlook()}`;
  const reason = isLate && known !== undefined ? messageOf(known) : '';
  if (lost?.error instanceof OutcomeUnknownError) {
    const { failure, cause: loss } = lost.error;
    const more = failure.message.includes(reason) ? '' : `: ${reason}`;
    const message = `${failure.message} It was not repeated: ${why}${more}`;
    return new OutcomeUnknownError({ ...failure, message }, { server, cause: loss });
  }
  const message = `'${call.tool}' was not sent: ${why}${reason === '' ? '' : `: ${reason}`}`;
  return new NotReadyError(message, { server, cause: known });
}

/** The error of a call whose turn did not come. */
export function outOfTurn({ server, turns }: CallRoute, call: Call, cause: unknown): TroupeError {
  if (!(cause instanceof TimedOut)) return abortedError(server, call);
  const why = `its turn did not come within ${cause.limitMs} ms (calls in work: ${turns.taken})`;
  return new NotReadyError(`'${call.tool}' was not sent: ${why}.`, { server });
}

function abortedError(server: string, { tool, options }: ToldCall): CallAbortedError {
  const cause: unknown = options.signal?.reason;
  return new CallAbortedError(`The call of '${tool}' was aborted.`, { server, cause });
}

function timeoutMessage({ limitMs, isTotal }: TimedOut, { tool }: ToldCall): string {
  const what = isTotal
    ? `no answer within the ${limitMs} ms of the whole call`
    : `no answer and no progress for ${limitMs} ms`;
  return `'${tool}' timed out: ${what}; the server was told to cancel it.`;
}
