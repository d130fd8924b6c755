/**
 * The stream on which a streamable HTTP server sends its own messages (MCP 2025-11-25, "Listening for messages from the
 * server"): opened with GET, reopened when it ends, given up if the server does not offer it.
 *
 * L1. Pauses before reopening grow from 1 s by 1.5 up to 30 s, and start again only after a stream that lived 5 s.
 * L2. `retry:` and `Retry-After` of the server lengthen a pause, never shorten it.
 * L3. A refusal of the first GET says that there is no such stream; the refusal of a later one may mean that the
 *     session is gone.
 * L4. The stream is optional. If it breaks, however often and however early, that says nothing about the session; it is
 *     reported as a reason to ping. Only a failure to connect counts against the server.
 */
import type { RequestId } from '../../mcp/messages.js';
import type { Clock } from '../../ports.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import type { TransportNotice } from '../session-transport.js';
import { pause } from '../../async/abort.js';
import { carriesMessage, EVENT_STREAM, isEventStream, readEvents } from './event-stream.js';
import { leavesDoubt } from './http-refusal.js';
import type { SessionRequests } from './session-requests.js';

const FIRST_PAUSE_MS = 1_000;
const PAUSE_FACTOR = 1.5;
const MAX_PAUSE_MS = 30_000;
/** A stream that ends sooner does not count as one that worked. */
const WORKING_STREAM_MS = 5_000;

/** What every event stream of a session needs from it. */
export interface StreamPort {
  readonly requests: SessionRequests;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  onData(data: string): void;
  onactivity(): void;
}

export interface ListeningPort extends StreamPort {
  /** A message exceeds the limit. */
  onOversize(): void;
  /** That message answers this request. */
  onSkippedAnswer(id: RequestId): void;
  onNotice(notice: TransportNotice): void;
  onOpen(): void;
  /** The stream, or the connection that requested it, broke off; or a gateway refused it. */
  onBroken(): void;
  /** No connection could be made. */
  onUnreachable(error: TransportError): void;
  /** The server does not know the session any more. */
  onSessionGone(failure: RawFailure): void;
}

/** Resolves when it gives up; rejects with the reason of the signal. */
export async function listen(port: ListeningPort, signal: AbortSignal): Promise<void> {
  let hadStream = false;
  let lastEventId: string | undefined;
  let retryMs = 0;
  for (let step = 0; ; step += 1) {
    let openedAt = Infinity;
    let retryAfterMs = 0;
    try {
      const reply = await port.requests.send({ method: 'GET', accept: EVENT_STREAM, lastEventId, signal });
      if (!isEventStream(reply)) throw await port.requests.notMcp(reply);
      hadStream = true;
      port.onOpen();
      openedAt = port.clock.now();
      await readEvents(reply.body, {
        maxSize: port.maxMessageBytes,
        onactivity: () => port.onactivity(),
        onRetry: (ms) => (retryMs = ms),
        onOversize: () => port.onOversize(),
        onSkippedAnswer: (id) => port.onSkippedAnswer(id),
        onEvent: (event) => {
          if (event.id !== undefined) lastEventId = event.id === '' ? undefined : event.id;
          if (carriesMessage(event)) port.onData(event.data);
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      // An error that cuts the body is not a `TransportError`.
      const isRefused = error instanceof TransportError;
      if (!isRefused || leavesDoubt(error.failure)) port.onBroken();
      if (isRefused) {
        const next = afterRefusal(error.failure, {
          hadStream,
          inSession: port.requests.sessionId !== undefined,
          resuming: lastEventId !== undefined,
        });
        // A server may delay the reply until its first message, so a broken wait for the reply was a stream, too.
        if (error.failure.code === 'connection-lost') hadStream = true;
        if (next === 'session-gone') return port.onSessionGone(asExpired(error.failure));
        if (next === 'give-up') return port.onNotice(givenUp(error.failure));
        if (next === 'forget-event') lastEventId = undefined;
        if (next === 'unreachable') port.onUnreachable(error);
        retryAfterMs = error.failure.http?.retryAfterMs ?? 0;
      }
    }
    if (port.clock.now() - openedAt >= WORKING_STREAM_MS) step = 0;
    await pause(port.clock, Math.max(growingPause(step), retryMs, retryAfterMs), signal);
  }
}

export function growingPause(step: number): number {
  return Math.min(FIRST_PAUSE_MS * PAUSE_FACTOR ** step, MAX_PAUSE_MS);
}

export type AfterRefusal = 'retry' | 'unreachable' | 'give-up' | 'forget-event' | 'session-gone';

export interface SoFar {
  /** There was a stream before. */
  readonly hadStream: boolean;
  /** The server has given a session id. */
  readonly inSession: boolean;
  /** The GET asked for the events after the last one. */
  readonly resuming: boolean;
}

/** What to do after a GET that gave no stream. */
export function afterRefusal(failure: RawFailure, soFar: SoFar): AfterRefusal {
  if (failure.code === 'address-refused') return 'unreachable';
  if (failure.code === 'connection-lost') return 'retry';
  const status = failure.http?.status ?? 0;
  if (status >= 500 || status === 408 || status === 425 || status === 429) return 'retry';
  if (!soFar.hadStream) return 'give-up';
  // 409: the server has not yet noticed that the former stream is over.
  if (status === 409) return 'retry';
  // Many servers answer 400 to an unknown session, but also to an unknown event id.
  if (status === 400 && soFar.resuming) return 'forget-event';
  return soFar.inSession && (status === 400 || status === 404) ? 'session-gone' : 'give-up';
}

function asExpired(failure: RawFailure): RawFailure {
  return { ...failure, code: 'session-expired' };
}

function givenUp({ code, http }: RawFailure): TransportNotice {
  const reason = http === undefined ? code : `HTTP ${http.status}`;
  return {
    kind: 'no-listening-stream',
    message: `The server offers no stream for its own messages (${reason}).`,
  };
}
