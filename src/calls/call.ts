/**
 * One tool call from sending to its one honest outcome.
 *
 * K1. It settles exactly once: answered, refused by the server, timed out, aborted, not sent, or outcome unknown.
 * K2. It is never sent twice.
 * K3. A call that is given up is cancelled at the server (MCP specification, "Cancellation"); a late answer is dropped.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  CallAbortedError,
  CallTimeoutError,
  NotReadyError,
  OutcomeUnknownError,
  ServerError,
  type TroupeError,
} from '../errors.js';
import type { CallOutcome, LifecycleEventBody } from '../lifecycle/event.js';
import type { Clock } from '../ports.js';
import { RequestLostError, RpcError, type Progress } from '../protocol/protocol-client.js';
import { maskFailure, maskJson, type Mask } from '../secrets.js';
import type { Session } from '../sessions.js';
import { unsendable } from './call-problem.js';
import { GivenUp, Patience, TimedOut } from './patience.js';

export interface CallOptions {
  /** Gives the call up; the server is told. */
  readonly signal?: AbortSignal;
  /** Milliseconds without an answer and without progress. 0 = no limit. Default: the server's `callTimeout`, else 60,000. */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: Progress) => void;
}

export interface CallPorts {
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
  /** Strikes out the secrets of a server's entry. */
  readonly mask: (server: string) => Mask;
  /** Number of the next call, for its events. */
  readonly nextCall: () => number;
}

export interface Call {
  readonly tool: string;
  readonly args: object;
  readonly timeoutMs: number;
  readonly options: CallOptions;
}

/** Sends one call over a usable session. */
export async function sendCall(ports: CallPorts, session: Session, call: Call): Promise<CallToolResult> {
  const { name: connection, generation } = session.key;
  const id = ports.nextCall();
  const about = { connection, generation, call: id, tool: call.tool };
  const startedAt = ports.clock.now();
  ports.publish({ type: 'call.started', ...about });
  const finish = (outcome: CallOutcome): void =>
    ports.publish({ type: 'call.finished', ...about, durationMs: ports.clock.now() - startedAt, outcome });
  const tellProgress = (progress: Progress): void => {
    const { total } = progress;
    ports.publish({
      type: 'call.progress',
      ...about,
      progress: progress.progress,
      ...(total === undefined ? {} : { total }),
    });
    try {
      call.options.onProgress?.(progress);
    } catch (error) {
      const message = `The progress callback of call ${id} threw: ${messageOf(error)}`;
      ports.publish({ type: 'diagnostic', connection, generation, kind: 'progress-callback', message });
    }
  };
  session.beginCall();
  try {
    const result = await request(ports.clock, session, call, tellProgress);
    finish(result.isError === true ? 'tool-error' : 'answered');
    return result;
  } catch (error) {
    const { outcome, thrown } = judge(
      masked(error, ports.mask(connection)),
      session,
      call,
      ports.clock.now(),
    );
    finish(outcome);
    throw thrown;
  } finally {
    session.endCall(ports.clock.now());
  }
}

async function request(
  clock: Clock,
  session: Session,
  call: Call,
  tellProgress: (progress: Progress) => void,
): Promise<CallToolResult> {
  const { client } = session;
  if (client === undefined) {
    throw new RequestLostError(
      { code: 'connection-lost', message: 'There is no session to send it on.' },
      false,
    );
  }
  const patience = new Patience(clock, call.timeoutMs, call.options.signal);
  const onProgress = (progress: Progress): void => {
    patience.renew();
    tellProgress(progress);
  };
  try {
    const params = { name: call.tool, arguments: call.args };
    const result = await client.request('tools/call', params, { signal: patience.signal, onProgress });
    return result as CallToolResult;
  } finally {
    patience.end();
  }
}

/** The same error without secrets, so that its cause may be told too. */
function masked(error: unknown, mask: Mask): unknown {
  if (error instanceof RpcError) {
    return new RpcError(error.rpcCode, mask(error.message), maskJson(error.data, mask));
  }
  if (error instanceof RequestLostError) {
    return new RequestLostError(maskFailure(error.failure, mask), error.written);
  }
  return error;
}

interface Judgement {
  readonly outcome: CallOutcome;
  readonly thrown: TroupeError | TypeError;
}

function judge(error: unknown, session: Session, call: Call, at: number): Judgement {
  const server = session.key.name;
  if (error instanceof TimedOut) {
    const message = `'${call.tool}' timed out: no answer and no progress for ${call.timeoutMs} ms; the server was told to cancel it.`;
    return { outcome: 'timed-out', thrown: new CallTimeoutError(message, { server }) };
  }
  if (error instanceof RpcError) {
    const thrown = new ServerError(error.rpcCode, error.message, { server, cause: error, data: error.data });
    return { outcome: 'server-error', thrown };
  }
  if (error instanceof GivenUp) return { outcome: 'aborted', thrown: abortedError(server, call) };
  const failure =
    error instanceof RequestLostError
      ? error.failure
      : { code: 'internal' as const, message: messageOf(error) };
  if (error instanceof RequestLostError && !error.written) {
    const problem = unsendable(call.args);
    if (problem !== undefined) return { outcome: 'not-sent', thrown: problem };
    const message = `'${call.tool}' was not sent: ${failure.message}`;
    return { outcome: 'not-sent', thrown: new NotReadyError(message, { server, cause: error }) };
  }
  const what =
    failure.code === 'protocol-error'
      ? `The answer to '${call.tool}' could not be read`
      : `The connection was lost before '${call.tool}' was answered`;
  const message = `${what}, so whether it was done is unknown: ${failure.message}`;
  const thrown = new OutcomeUnknownError(
    { ...failure, message, phase: 'session', at },
    { server, cause: error },
  );
  return { outcome: 'outcome-unknown', thrown };
}

/** Also for a call that was given up before it could be sent. */
export function abortedError(server: string, { tool, options }: Call): CallAbortedError {
  const cause: unknown = options.signal?.reason;
  return new CallAbortedError(`The call of '${tool}' was aborted.`, { server, cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
