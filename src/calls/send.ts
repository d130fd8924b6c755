/**
 * One sending of a call over one session.
 *
 * N1. It is told as one `call.started` and one `call.finished` of the same number, and never sent twice.
 * N2. While the server has a person or a model of the host asked, no limit of the caller goes on, unless it is the answer
 *     for which it calls.
 * N3. A sending that is given up is cancelled at the server (MCP specification, "Cancellation"); a late answer is
 *     dropped.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { FailureCode } from '../../machines/policy/failure.js';
import type { CallOutcome } from '../lifecycle/event.js';
import { RequestLostError, RpcError, type JsonObject, type Progress } from '../protocol/protocol-client.js';
import { maskFailure, maskJson, type Mask } from '../secrets.js';
import type { Session } from '../sessions.js';
import type { Call, CallPorts } from './call.js';
import { judge, type Judgement, type ToldCall } from './outcome.js';
import { tellListener } from './progress-listener.js';
import type { Patience } from './patience.js';

/** How one exchange breaks where its session may live on. */
const BREAKS: ReadonlySet<FailureCode> = new Set<FailureCode>(['connection-lost', 'address-refused']);

/** A request that brought no result. */
export interface Unanswered extends Judgement {
  /** What carried it broke; the server has refused nothing. */
  readonly isLost: boolean;
}

/** A sending of a call that brought no result. */
export interface UnansweredCall extends Unanswered {
  readonly number: number;
}

/** Never rejects. `repeats` is the number of the sending that was lost. */
export async function send(
  ports: Omit<CallPorts, 'check'>,
  session: Session,
  call: Call,
  patience: Patience,
  repeats?: number,
): Promise<{ readonly result: CallToolResult } | UnansweredCall> {
  const { name: connection, generation } = session.key;
  const number = ports.nextCall();
  const mask = ports.mask(connection);
  const tool = mask(call.tool);
  const startedAt = ports.clock.now();
  // Written out each time: these are the events that come in masses, and a spread costs more than the rest of them.
  if (repeats === undefined) {
    ports.publish({ type: 'call.started', connection, generation, call: number, tool });
  } else {
    ports.publish({ type: 'call.started', connection, generation, call: number, tool, repeats });
  }
  const finish = (outcome: CallOutcome): void => {
    const durationMs = Math.max(0, ports.clock.now() - startedAt);
    ports.publish({ type: 'call.finished', connection, generation, call: number, tool, durationMs, outcome });
  };
  const tellProgress = (progress: Progress): void => {
    const { total } = progress;
    ports.publish({
      type: 'call.progress',
      connection,
      generation,
      call: number,
      tool,
      progress: progress.progress,
      ...(total === undefined ? {} : { total }),
    });
    tellListener(ports, session, `call ${number}`, call.options.onProgress, progress);
  };
  const owed = session.beginCall();
  let isTooLate = false;
  const letClocksGo = session.pauseDuringQuestions(patience);
  try {
    const result = await request(session, call, number, patience, tellProgress);
    finish(result.isError === true ? 'tool-error' : 'answered');
    return { result };
  } catch (error) {
    const unanswered = whyUnanswered(error, session, mask, { ...call, tool }, ports.clock.now());
    isTooLate = unanswered.outcome === 'timed-out';
    finish(unanswered.outcome);
    return { ...unanswered, number };
  } finally {
    letClocksGo();
    session.endCall(owed, ports.clock.now(), isTooLate);
  }
}

function request(
  { client }: Session,
  call: Call,
  number: number,
  patience: Patience,
  tellProgress: (progress: Progress) => void,
): Promise<CallToolResult> {
  if (client === undefined) {
    const failure = { code: 'connection-lost', message: 'There is no session to send it on.' } as const;
    return Promise.reject(new RequestLostError(failure, false));
  }
  const onProgress = (progress: Progress): void => {
    patience.renew();
    tellProgress(progress);
  };
  const method = 'tools/call';
  const params = { name: call.tool, arguments: call.args, _meta: call.options.meta };
  const origin = { method, name: call.tool, call: number, context: call.options.context };
  const answer = client.request(method, params, { signal: patience, onProgress, origin });
  return answer as Promise<JsonObject & CallToolResult>;
}

/** What became of a request over that session which failed with `error`, told without secrets. */
export function whyUnanswered(
  error: unknown,
  session: Session,
  mask: Mask,
  told: ToldCall,
  at: number,
): Unanswered {
  const judgement = judgeAnything(error, mask, (known) => judge(known, session.key.name, told, at));
  const isLost = error instanceof RequestLostError && (!session.isUsable || BREAKS.has(error.failure.code));
  return { ...judgement, isLost };
}

/** A failure that cannot even be looked at leaves the outcome unknown. */
function judgeAnything(error: unknown, mask: Mask, judged: (error: unknown) => Judgement): Judgement {
  try {
    return judged(masked(error, mask));
  } catch {
    return judged(new Error('What the server said cannot be told.'));
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
