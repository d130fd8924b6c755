/**
 * The event stream that answers one POST. Where the server gave event ids, a stream that broke off is resumed with GET
 * and `Last-Event-ID` (MCP 2025-11-25, "Resumability and redelivery").
 *
 * A1. Settles once: resolved when the answer has come, rejected with the reason why it cannot come any more.
 * A2. Resuming is bounded: after 5 tries without a new event the answer counts as lost.
 */
import type { Clock } from '../../ports.js';
import { TransportError } from '../session-transport.js';
import { pause } from './abortable.js';
import { carriesMessage, EVENT_STREAM, readEvents } from './event-stream.js';
import type { HttpReply } from './exchange.js';
import { mediaType } from './http-refusal.js';
import { growingPause } from './listening-stream.js';
import type { SessionRequests } from './session-requests.js';

const MAX_FRUITLESS_TRIES = 5;
/** Time for the server to end the stream after the answer, so that the socket can be used again. */
const END_AFTER_ANSWER_MS = 1_000;

export interface AnswerPort {
  readonly requests: SessionRequests;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  onData(data: string): void;
  onChunk(): void;
  /** Whether the answer has been delivered. */
  isAnswered(): boolean;
}

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
  let tries = 0;
  let ending: unknown;

  const read = async (body: HttpReply['body']): Promise<void> => {
    try {
      await readEvents(body, {
        maxSize: port.maxMessageBytes,
        onChunk: () => port.onChunk(),
        onRetry: (ms) => (retryMs = ms),
        onOversize: () => {
          throw tooLarge(port);
        },
        onEvent: (event) => {
          tries = 0;
          if (event.id !== undefined) lastEventId = event.id === '' ? undefined : event.id;
          if (carriesMessage(event)) port.onData(event.data);
          if (port.isAnswered())
            ending ??= port.clock.setTimeout(() => controller.abort(), END_AFTER_ANSWER_MS);
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
    if (reply !== undefined) await read(reply.body);
    if (port.isAnswered()) return;
    signal.throwIfAborted();
    if (lastEventId === undefined || tries === MAX_FRUITLESS_TRIES) throw lost(port, cause);
    await pause(port.clock, pauseBefore(tries, retryMs), signal);
    tries += 1;
    reply = await resume(port, lastEventId, signal);
  }
}

/** The first try comes exactly when the server wants it; fruitless ones after it are spaced out further. */
function pauseBefore(tries: number, retryMs: number | undefined): number {
  if (retryMs === undefined) return growingPause(tries);
  return tries === 0 ? retryMs : Math.max(retryMs, growingPause(tries - 1));
}

/** Undefined where a later try may succeed. */
async function resume(
  port: AnswerPort,
  lastEventId: string,
  signal: AbortSignal,
): Promise<HttpReply | undefined> {
  try {
    const reply = await port.requests.send({ method: 'GET', accept: EVENT_STREAM, lastEventId, signal });
    if (mediaType(reply) !== EVENT_STREAM) throw await port.requests.notMcp(reply);
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

function tooLarge(port: AnswerPort): TransportError {
  const message = `The answer of ${port.requests.address.shown} is above the limit of ${port.maxMessageBytes} bytes.`;
  return new TransportError({ code: 'message-too-large', message }, { written: true });
}
