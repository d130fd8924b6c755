/**
 * The HTTP+SSE transport of MCP 2024-11-05, client side: one event stream from the server, one address to post to.
 *
 * E1. `start()` resolves when the server has named the address to post to, which must be within the stream's origin.
 * E2. The stream is the session: when it ends, the session is over. Nothing can be resumed.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isWithinOrigin } from './http/address.js';
import { carriesMessage, EVENT_STREAM, readEvents } from './http/event-stream.js';
import { errorCode } from './http/exchange.js';
import type { HttpReply } from './http/exchange.js';
import { mediaType } from './http/http-refusal.js';
import { HttpSession } from './http/http-session.js';
import type { HttpTransportOptions } from './http/http-session.js';
import { TransportError } from './session-transport.js';
import type { RawFailure, SessionTransport } from './session-transport.js';

export function createSseTransport(options: HttpTransportOptions): SessionTransport {
  return new SseTransport(options);
}

class SseTransport extends HttpSession {
  readonly kind = 'sse';
  #endpoint: URL | undefined;
  /** A server that took one message and then answers 404 or 401 says it of the session, not of the address. */
  #hasAccepted = false;

  async start(): Promise<void> {
    this.open();
    const controller = this.track();
    try {
      const { signal } = controller;
      const reply = await this.requests.send({ method: 'GET', accept: EVENT_STREAM, signal });
      if (mediaType(reply) !== EVENT_STREAM) throw await this.requests.notMcp(reply);
      await new Promise<void>((resolve, reject) => {
        void this.#read(reply, signal, resolve).then((failure) => {
          reject(new TransportError(failure));
          if (this.#endpoint !== undefined) this.end(failure);
        });
      });
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const body = this.serialize(message);
    try {
      const url = this.#postAddress();
      await this.post(message, body, (signal) => this.requests.send({ method: 'POST', url, body, signal }));
      this.#hasAccepted = true;
    } catch (error) {
      throw this.#judged(error);
    }
  }

  /** Resolves with the reason why the stream is over. Never rejects. */
  async #read(reply: HttpReply, signal: AbortSignal, onEndpoint: () => void): Promise<RawFailure> {
    try {
      await readEvents(reply.body, {
        maxSize: this.maxMessageBytes,
        onChunk: () => this.alive(),
        // E2: nobody comes back to this stream.
        onRetry: () => {},
        onOversize: () =>
          this.notice('message-too-large', `A message above ${this.maxMessageBytes} bytes was left out.`),
        onEvent: (event) => {
          if (event.event === 'endpoint') {
            this.#endpoint ??= this.#resolveEndpoint(event.data);
            onEndpoint();
          } else if (carriesMessage(event)) {
            this.receive(event.data);
          }
        },
      });
    } catch (error) {
      const cause: unknown = signal.aborted ? signal.reason : error;
      if (cause instanceof TransportError) return cause.failure;
      return {
        code: 'connection-lost',
        message: `The event stream of ${this.url} broke off (${errorCode(cause)}).`,
      };
    }
    const when = this.#endpoint === undefined ? ' before it named an address to post to' : '';
    return { code: 'connection-lost', message: `The event stream of ${this.url} ended${when}.` };
  }

  #resolveEndpoint(text: string): URL {
    const base = this.requests.address.url;
    if (URL.canParse(text, base.href)) {
      const endpoint = new URL(text, base);
      if (isWithinOrigin(base, endpoint)) return endpoint;
    }
    const message = `${this.url} named an address to post to that is not within its own origin.`;
    throw new TransportError({ code: 'http-not-mcp', message });
  }

  #postAddress(): URL {
    if (this.#endpoint !== undefined) return this.#endpoint;
    throw new TransportError({ code: 'internal', message: 'The transport has not been started.' });
  }

  #judged(error: unknown): unknown {
    if (!(error instanceof TransportError) || !this.#hasAccepted) return error;
    const failure = sessionOver(error.failure);
    if (failure === undefined) return error;
    this.end(failure);
    return new TransportError(failure, { written: false, cause: error });
  }
}

/** What the refusal of a message says about a session that took messages before; undefined where it says nothing. */
function sessionOver(failure: RawFailure): RawFailure | undefined {
  if (failure.code === 'auth-required') return failure;
  return failure.http?.status === 404 ? { ...failure, code: 'session-expired' } : undefined;
}
