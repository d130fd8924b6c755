/**
 * The event stream that answers one POST. If the server gave event ids, a stream that broke off is resumed with GET and
 * `Last-Event-ID` (MCP 2025-11-25, "Resumability and redelivery").
 *
 * A1. Settles once: resolves when the answer has come, rejects with the reason why it can no longer come.
 * A2. Resuming is bounded: after 5 tries in a row without a new event, the answer counts as lost.
 * A3. Whatever the server asks for, a try comes no sooner than 100 ms after the stream before it. That pause grows by 1.5,
 *     up to 5 s, with each try that brought no message: a server may send an event without one, and close again (MCP
 *     2025-11-25, "Sending Messages to the Server").
 */
import { TransportError } from '../../failures/transport-error.js';
import { pause } from '../../async/abort.js';
import { carriesMessage, EVENT_STREAM, isEventStream, readEvents } from './event-stream.js';
import type { HttpReply } from './http-exchange.js';
import { growingPause, type StreamPort } from './listening-stream.js';

const MAX_FRUITLESS_TRIES = 5;
const FLOOR_MS = 100;
const FLOOR_FACTOR = 1.5;
const HIGHEST_FLOOR_MS = 5_000;
/** Time for the server to end the stream after the answer, so that the socket can be used again. */
const END_AFTER_ANSWER_MS = 1_000;

export interface AnswerPort extends StreamPort {
  /** An event exceeds the limit. It counts as the answer, so the request fails. */
  onOversize(): void;
  /** Whether a stream that broke off may be resumed: not in the new era (MCP 2026-07-28, "Transports"). */
  readonly mayResume: boolean;
  /** Whether the answer has been delivered. */
  isAnswered(): boolean;
}

/** The server has opened a stream of the older transport, whose first event is `endpoint` (MCP 2024-11-05, "Transports"). */
export class OlderServer extends TransportError {}

export async function readAnswer(
  port: AnswerPort,
  first: HttpReply,
  controller: AbortController,
): Promise<void> {
  const { signal } = controller;
  let reply: HttpReply | undefined = first;
  let lastEventId: string | undefined;
  let retryMs: number | undefined;
  let cause: unknown;
  /** Tries since the last new event, and since the last new event with a message. */
  let fruitless = 0;
  let empty = 0;
  let hasBrought = false;
  let ending: unknown;

  const endSoon = (): void => {
    if (port.isAnswered()) ending ??= port.clock.setTimeout(() => controller.abort(), END_AFTER_ANSWER_MS);
  };

  const read = async (body: HttpReply['body']): Promise<void> => {
    try {
      await readEvents(body, {
        maxSize: port.maxMessageBytes,
        onactivity: () => port.onactivity(),
        onRetry: (ms) => (retryMs = ms),
        onOversize: () => {
          port.onOversize();
          endSoon();
        },
        onEvent: (event) => {
          if (event.event === 'endpoint' && !hasBrought) throw olderServer(port);
          if (event.id !== undefined) lastEventId = event.id === '' ? undefined : event.id;
          if (carriesMessage(event)) {
            hasBrought = true;
            port.onData(event.data);
          }
          endSoon();
        },
      });
    } catch (error) {
      if (error instanceof TransportError) throw error;
      cause = error;
    } finally {
      port.clock.clearTimeout(ending);
    }
  };

  for (;;) {
    // A server may repeat the whole stream each time: there is progress if the stream ends at another event than it began.
    const before = lastEventId;
    hasBrought = false;
    if (reply !== undefined) await read(reply.body);
    if (lastEventId !== before) {
      fruitless = 0;
      if (hasBrought) empty = 0;
    }
    if (port.isAnswered()) return;
    signal.throwIfAborted();
    if (!port.mayResume || lastEventId === undefined || fruitless === MAX_FRUITLESS_TRIES)
      throw lost(port, cause);
    const ms = Math.max(pauseBefore(fruitless, retryMs), floorOfPause(empty));
    await pause(port.clock, ms, signal);
    fruitless += 1;
    empty += 1;
    reply = await resume(port, lastEventId, signal);
  }
}

/** The first try comes when the server wants it; the pauses grow after tries without success. */
function pauseBefore(fruitless: number, retryMs: number | undefined): number {
  if (retryMs === undefined) return growingPause(fruitless);
  return fruitless === 0 ? retryMs : Math.max(retryMs, growingPause(fruitless - 1));
}

function floorOfPause(empty: number): number {
  return Math.min(FLOOR_MS * FLOOR_FACTOR ** empty, HIGHEST_FLOOR_MS);
}

/** Undefined if a later try may succeed. */
async function resume(
  port: AnswerPort,
  lastEventId: string,
  signal: AbortSignal,
): Promise<HttpReply | undefined> {
  try {
    const reply = await port.requests.send({ method: 'GET', accept: EVENT_STREAM, lastEventId, signal });
    if (!isEventStream(reply)) throw await port.requests.notMcp(reply);
    return reply;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TransportError && mayPass(error)) return undefined;
    throw error;
  }
}

function mayPass({ failure }: TransportError): boolean {
  const status = failure.http?.status;
  if (status === undefined) return failure.code === 'address-refused' || failure.code === 'connection-lost';
  return status >= 500 || status === 408 || status === 409 || status === 425 || status === 429;
}

function lost(port: AnswerPort, cause: unknown): TransportError {
  const how = cause === undefined ? 'ended' : 'broke off';
  const message = `The stream of ${port.requests.address.shown} ${how} before the answer.`;
  return new TransportError({ code: 'connection-lost', message }, { written: true, cause });
}

function olderServer({ requests }: AnswerPort): TransportError {
  const message = `${requests.address.shown} speaks the older SSE transport.`;
  const hint = "Set 'type' to 'sse', or leave it out.";
  return new OlderServer({ code: 'http-not-mcp', message, hint }, { written: false });
}
