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
import { RequestLostError, RpcError, type JsonObject, type Progress } from '../protocol/protocol-client.js';
import { maskJson, type Mask } from '../secrets.js';
import type { Session } from '../sessions.js';

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
  readonly args: JsonObject;
  readonly timeoutMs: number;
  readonly options: CallOptions;
}

class TimedOut extends Error {}

/** Sends one call over a usable session. */
export async function sendCall(ports: CallPorts, session: Session, call: Call): Promise<CallToolResult> {
  const { name: connection, generation } = session.key;
  const id = ports.nextCall();
  const about = { connection, generation, call: id, tool: call.tool };
  const startedAt = ports.clock.now();
  ports.publish({ type: 'call.started', ...about });
  const finish = (outcome: CallOutcome): void =>
    ports.publish({ type: 'call.finished', ...about, durationMs: ports.clock.now() - startedAt, outcome });
  session.beginCall();
  try {
    const result = await request(ports, session, call, (progress) => {
      const { total } = progress;
      ports.publish({
        type: 'call.progress',
        ...about,
        progress: progress.progress,
        ...(total === undefined ? {} : { total }),
      });
    });
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
    session.endCall();
  }
}

async function request(
  ports: CallPorts,
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
  const { clock } = ports;
  const { timeoutMs, options } = call;
  const giveUp = new AbortController();
  const onAbort = (): void => giveUp.abort(options.signal?.reason ?? new Error('aborted'));
  if (options.signal?.aborted === true) onAbort();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  const expire = (): void => giveUp.abort(new TimedOut());
  let timer = timeoutMs > 0 ? clock.setTimeout(expire, timeoutMs) : undefined;
  const onProgress = (progress: Progress): void => {
    if (timer !== undefined) {
      clock.clearTimeout(timer);
      timer = clock.setTimeout(expire, timeoutMs);
    }
    tellProgress(progress);
    options.onProgress?.(progress);
  };
  try {
    const params = { name: call.tool, arguments: call.args };
    return (await client.request('tools/call', params, {
      signal: giveUp.signal,
      onProgress,
    })) as CallToolResult;
  } finally {
    if (timer !== undefined) clock.clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/** The same error without secrets, so that its cause may be told too. */
function masked(error: unknown, mask: Mask): unknown {
  if (error instanceof RpcError) {
    return new RpcError(error.rpcCode, mask(error.message), maskJson(error.data, mask));
  }
  if (error instanceof RequestLostError) {
    return new RequestLostError(maskJson(error.failure, mask), error.written);
  }
  return error;
}

interface Judgement {
  readonly outcome: CallOutcome;
  readonly thrown: TroupeError;
}

function judge(error: unknown, session: Session, call: Call, at: number): Judgement {
  const server = session.key.name;
  if (error instanceof TimedOut) {
    const message = `'${call.tool}' gave no answer and no progress for ${call.timeoutMs} ms; the server was told to cancel it.`;
    return { outcome: 'timed-out', thrown: new CallTimeoutError(message, { server }) };
  }
  if (error instanceof RpcError) {
    const thrown = new ServerError(error.rpcCode, error.message, { server, cause: error, data: error.data });
    return { outcome: 'server-error', thrown };
  }
  if (call.options.signal?.aborted === true) {
    const cause: unknown = call.options.signal.reason;
    return {
      outcome: 'aborted',
      thrown: new CallAbortedError(`The call of '${call.tool}' was aborted.`, { server, cause }),
    };
  }
  const failure =
    error instanceof RequestLostError
      ? error.failure
      : { code: 'internal' as const, message: error instanceof Error ? error.message : String(error) };
  if (error instanceof RequestLostError && !error.written) {
    const message = `'${call.tool}' was not sent: ${failure.message}`;
    return { outcome: 'not-sent', thrown: new NotReadyError(message, { server, cause: error }) };
  }
  const message = `The connection was lost before '${call.tool}' was answered, so whether it was done is unknown: ${failure.message}`;
  const thrown = new OutcomeUnknownError(
    { ...failure, message, phase: 'session', at },
    { server, cause: error },
  );
  return { outcome: 'outcome-unknown', thrown };
}
