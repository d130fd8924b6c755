/**
 * For addresses configured without a type: streamable HTTP, or the older HTTP+SSE if the server refuses the first message
 * as an older server does (MCP 2025-11-25, "Backwards compatibility").
 *
 * F1. The choice is made once, by the reply to `initialize`: a refusal, or an event stream that starts with `endpoint`. A
 *     message of the new era decides nothing.
 * F2. Only the transport in use is listened to; the other is released before `initialize` is sent again.
 */
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '../../mcp/messages.js';
import { createSseTransport } from './sse.js';
import { createStreamableHttpTransport } from './streamable-http.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import type { SendOptions, SessionTransport, TransportKind, TransportNotice } from '../session-transport.js';
import type { HttpTransportOptions } from './http-session.js';

/** Time for the older transport to name an address: an older server does so as soon as its stream is open. */
const OLDER_NAMING_MS = 10_000;
/** Statuses below 500 that an HTTP+SSE server does not give for lack of streamable HTTP. */
const SAYS_SOMETHING_ELSE = new Set([401, 402, 403, 407, 408, 409, 413, 421, 425, 426, 429, 451]);

export function createHttpTransport(options: HttpTransportOptions): SessionTransport {
  return new HttpTransport(options);
}

class HttpTransport implements SessionTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: SessionTransport['onmessage'];
  onnotice?: ((notice: TransportNotice) => void) | undefined;
  onlost?: ((id: RequestId, failure: RawFailure) => void) | undefined;
  onactivity?: (() => void) | undefined;
  onunreachable?: SessionTransport['onunreachable'];
  onsuspect?: (() => void) | undefined;

  readonly #options: HttpTransportOptions;
  #inner: SessionTransport;
  /** The transport that was given up; it may still be closing. */
  #former: SessionTransport | undefined;
  #isDecided = false;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#inner = this.#attach(
      createStreamableHttpTransport(
        options,
        (initialize, error) => void this.#fallBackLate(initialize, error),
      ),
    );
  }

  get kind(): TransportKind {
    return this.#inner.kind;
  }

  get url(): string | undefined {
    return this.#inner.url;
  }

  get ended(): RawFailure | undefined {
    return this.#inner.ended;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  drop(id: RequestId): void {
    this.#inner.drop?.(id);
  }

  stderrTail(): readonly string[] {
    return [];
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    // A server that refuses the new era may still speak either transport.
    if (this.#isDecided || options?.stateless !== undefined) return this.#inner.send(message, options);
    try {
      await this.#inner.send(message, options);
      this.#isDecided = true;
    } catch (error) {
      if (!(error instanceof TransportError) || !isFallbackReason(error.failure)) throw error;
      this.#isDecided = true;
      await this.#fallBack(error);
      await this.#inner.send(message, options);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#former?.kill(), this.#inner.close()]);
  }

  async kill(): Promise<void> {
    await Promise.all([this.#former?.kill(), this.#inner.kill()]);
  }

  async #fallBack(refused: TransportError): Promise<void> {
    // A transport that is being killed reports nothing else.
    this.#former = Object.assign(this.#inner, { onclose: undefined });
    this.#inner = this.#attach(createSseTransport(this.#options, OLDER_NAMING_MS));
    await this.#former.kill();
    try {
      await this.#inner.start();
    } catch (error) {
      throw error instanceof TransportError ? bothRefused(refused, error) : error;
    }
  }

  /** The server accepted the first message, and only the answer stream revealed its transport. Never rejects. */
  async #fallBackLate(initialize: JSONRPCRequest, shown: TransportError): Promise<void> {
    try {
      await this.#fallBack(shown);
      await this.#inner.send(initialize);
    } catch (error) {
      const failure = error instanceof TransportError ? error.failure : shown.failure;
      this.onlost?.(initialize.id, failure);
    }
  }

  #attach(transport: SessionTransport): SessionTransport {
    const callbacks: Callbacks = {
      onclose: () => this.onclose?.(),
      onerror: (error) => this.onerror?.(error),
      onmessage: (message, extra) => this.onmessage?.(message, extra),
      onnotice: (notice) => this.onnotice?.(notice),
      onlost: (id, failure) => this.onlost?.(id, failure),
      onactivity: () => this.onactivity?.(),
      onunreachable: (count, failure) => this.onunreachable?.(count, failure),
      onsuspect: () => this.onsuspect?.(),
    };
    return Object.assign(transport, callbacks);
  }
}

type Callbacks = Pick<
  SessionTransport,
  'onclose' | 'onerror' | 'onmessage' | 'onnotice' | 'onlost' | 'onactivity' | 'onunreachable' | 'onsuspect'
>;

function isFallbackReason({ code, http }: RawFailure): boolean {
  if (code !== 'http-status' || http === undefined) return false;
  // 501: the server does not support the method at all.
  return (
    (http.status >= 400 && http.status < 500 && !SAYS_SOMETHING_ELSE.has(http.status)) || http.status === 501
  );
}

/**
 * Refused twice, the first refusal is the one to show; what else hinders the older transport counts by itself. A server
 * that answered with a JSON-RPC error speaks the newer one, so the older says nothing about it.
 */
function bothRefused(refused: TransportError, older: TransportError): TransportError {
  if (refused.failure.rpcCode !== undefined) return refused;
  if (older.failure.code !== 'http-status' && older.failure.code !== 'http-not-mcp') return older;
  const message = `${refused.failure.message}. The older SSE transport did not work either: ${older.failure.message}`;
  return new TransportError({ ...refused.failure, message }, { written: false, cause: older });
}
