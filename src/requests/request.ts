/**
 * One request of a host to a server that is no call of a tool: what it asks for is safe to ask for again.
 *
 * Q1. It settles exactly once, with the errors of a call; its limits and its signal hold from the first wait to the
 *     last answer.
 * Q2. The server gets it once, and once more where what carried it broke. What was not sent, is sent within its limits
 *     (`calls/sendings.ts`).
 * Q3. It is not sent to a server that has not declared what it takes.
 */
import type { CallPorts, CallRoute } from '../calls/call.js';
import type { ToldCall } from '../calls/outcome.js';
import { Patience } from '../calls/patience.js';
import { tellListener } from '../calls/progress-listener.js';
import { whyUnanswered, type Unanswered } from '../calls/send.js';
import { Sendings } from '../calls/sendings.js';
import { cutText } from '../cut-text.js';
import { RequestLostError, type JsonObject, type Progress } from '../protocol/protocol-client.js';
import type { Session } from '../sessions.js';
import { whyNotOffered, type RequestMethod } from './offers.js';

export interface RequestOptions {
  /** Gives the request up; the server is told. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds without an answer; the wait for a session may take as long. 0 = no limit. Default: the server's
   * `callTimeout`, else 60,000.
   */
  readonly timeoutMs?: number;
  /** Milliseconds for the whole request, waits and a repetition included. 0 = no limit, the default. */
  readonly totalTimeoutMs?: number;
  /** As the option of that name of a call. */
  readonly context?: unknown;
  /** Hears how far the server is; each time, the wait for its answer begins anew. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface ServerRequest {
  readonly method: RequestMethod;
  readonly params: JsonObject;
  /** What it asks about, for messages; empty where the method says it all. */
  readonly about: string;
  /** What the answer must hold: gives what is wrong with it, if anything is. */
  readonly flawOf?: (answer: JsonObject) => string | undefined;
  readonly timeoutMs: number;
  readonly options: RequestOptions;
}

export type RequestPorts = Pick<CallPorts, 'clock' | 'mask' | 'publish'>;

export interface Answered {
  readonly answer: JsonObject;
  readonly session: Session;
}

const MOST_ABOUT = 200;

/** Sends a request over the connection's session, or over the next one. Sent before it returns where there is one. */
export async function makeRequest(
  ports: RequestPorts,
  route: CallRoute,
  request: ServerRequest,
): Promise<Answered> {
  const told = toTold(ports, route, request);
  const patience = patienceFor(ports, request);
  const limitMs = request.timeoutMs;
  const sendings = new Sendings({ route, clock: ports.clock, limitMs, patience, told: () => told });
  try {
    let session = route.session() ?? (await sendings.session());
    for (;;) {
      const sent = await send(ports, session, request, told, patience);
      if ('answer' in sent) return sent;
      if (!sent.isLost || !sendings.lose(sent)) throw sendings.errorOf(sent);
      session = await sendings.session();
    }
  } finally {
    sendings.end();
    patience.end();
  }
}

/** Sends a request that means nothing to any other session: where that one is lost, there is nothing left to do. */
export async function tellSession(
  ports: RequestPorts,
  route: CallRoute,
  session: Session,
  request: ServerRequest,
): Promise<void> {
  const patience = patienceFor(ports, request);
  try {
    const sent = await send(ports, session, request, toTold(ports, route, request), patience);
    if ('error' in sent && !sent.isLost) throw sent.error;
  } finally {
    patience.end();
  }
}

async function send(
  ports: RequestPorts,
  session: Session,
  { method, params, about, flawOf, options }: ServerRequest,
  told: ToldCall,
  patience: Patience,
): Promise<Answered | Unanswered> {
  const refusal = whyNotOffered(method, session);
  if (refusal !== undefined) throw refusal;
  const owed = session.beginCall();
  let isTooLate = false;
  const letClocksGo = session.pauseDuringQuestions(patience);
  const origin = { method, name: about, context: options.context };
  try {
    if (session.client === undefined) throw lost('There is no session to send it on.', false);
    const onProgress = listenerOf(ports, session, method, options, patience);
    const answer = await session.client.request(method, params, {
      signal: patience,
      origin,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    const flaw = flawOf?.(answer);
    if (flaw !== undefined) throw new RequestLostError({ code: 'protocol-error', message: flaw }, true);
    return { answer, session };
  } catch (error) {
    const unanswered = whyUnanswered(error, session, ports.mask(session.key.name), told, ports.clock.now());
    isTooLate = unanswered.outcome === 'timed-out';
    return unanswered;
  } finally {
    letClocksGo();
    session.endCall(owed, ports.clock.now(), isTooLate);
  }
}

function listenerOf(
  ports: RequestPorts,
  session: Session,
  method: RequestMethod,
  { onProgress }: RequestOptions,
  patience: Patience,
): ((progress: Progress) => void) | undefined {
  if (onProgress === undefined) return undefined;
  return (progress) => {
    patience.renew();
    tellListener(ports, session, method, onProgress, progress);
  };
}

function lost(message: string, written: boolean): RequestLostError {
  return new RequestLostError({ code: 'connection-lost', message }, written);
}

function patienceFor({ clock }: RequestPorts, { timeoutMs, options }: ServerRequest): Patience {
  return new Patience(clock, { idleMs: timeoutMs, totalMs: options.totalTimeoutMs ?? 0 }, options.signal);
}

/** The request as the errors of calls tell of it. */
function toTold(ports: RequestPorts, route: CallRoute, request: ServerRequest): ToldCall {
  const { method, about, params, options } = request;
  const subject = about === '' ? method : `${method} ${cutText(ports.mask(route.server)(about), MOST_ABOUT)}`;
  return { tool: subject, args: params, options };
}
