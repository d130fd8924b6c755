/**
 * Streamable HTTP, or the older HTTP+SSE where the server refuses the first message as only an older one does
 * (MCP 2025-11-25, "Backwards compatibility"): for addresses configured without a type.
 *
 * F1. The choice is made once, by the reply to `initialize`.
 * F2. Of the two transports only the one in use is heard; the other is released before `initialize` is sent again.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { createSseTransport } from '../sse.js';
import { createStreamableHttpTransport } from '../streamable-http.js';
import { TransportError } from '../session-transport.js';
import type { RawFailure, SessionTransport, TransportKind, TransportNotice } from '../session-transport.js';
import type { HttpTransportOptions } from './http-session.js';

/** Time for the older transport to open its stream and name an address: an older server does so at once. */
const OLDER_START_MS = 10_000;
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
  ondoubt?: (() => void) | undefined;

  readonly #options: HttpTransportOptions;
  #inner: SessionTransport;
  /** The transport that was given up; it may still be on its way out. */
  #former: SessionTransport | undefined;
  #isDecided = false;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#inner = this.#heard(createStreamableHttpTransport(options));
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

  stderrTail(): readonly string[] {
    return [];
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isDecided) return this.#inner.send(message);
    try {
      await this.#inner.send(message);
      this.#isDecided = true;
    } catch (error) {
      if (!(error instanceof TransportError) || !isFallbackReason(error.failure)) throw error;
      this.#isDecided = true;
      await this.#fallBack(error);
      await this.#inner.send(message);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#former?.kill(), this.#inner.close()]);
  }

  async kill(): Promise<void> {
    await Promise.all([this.#former?.kill(), this.#inner.kill()]);
  }

  async #fallBack(refused: TransportError): Promise<void> {
    // A transport that is being killed has nothing else to say.
    this.#former = Object.assign(this.#inner, { onclose: undefined });
    const older = this.#heard(createSseTransport(this.#options));
    this.#inner = older;
    await this.#former.kill();
    let late: TransportError | undefined;
    const { clock } = this.#options;
    const limit = clock.setTimeout(() => {
      late = unnamed(this.url);
      void Object.assign(older, { onclose: undefined }).kill();
    }, OLDER_START_MS);
    try {
      await older.start();
    } catch (error) {
      const why = late ?? error;
      throw why instanceof TransportError ? bothRefused(refused, why) : why;
    } finally {
      clock.clearTimeout(limit);
    }
  }

  #heard(transport: SessionTransport): SessionTransport {
    const callbacks: Callbacks = {
      onclose: () => this.onclose?.(),
      onerror: (error) => this.onerror?.(error),
      onmessage: (message, extra) => this.onmessage?.(message, extra),
      onnotice: (notice) => this.onnotice?.(notice),
      onlost: (id, failure) => this.onlost?.(id, failure),
      onactivity: () => this.onactivity?.(),
      ondoubt: () => this.ondoubt?.(),
    };
    return Object.assign(transport, callbacks);
  }
}

type Callbacks = Pick<
  SessionTransport,
  'onclose' | 'onerror' | 'onmessage' | 'onnotice' | 'onlost' | 'onactivity' | 'ondoubt'
>;

function isFallbackReason({ code, http }: RawFailure): boolean {
  if (code !== 'http-status' || http === undefined) return false;
  return http.status >= 400 && http.status < 500 && !SAYS_SOMETHING_ELSE.has(http.status);
}

function unnamed(url: string | undefined): TransportError {
  const message = `${url} named no address to post to within ${OLDER_START_MS} ms.`;
  return new TransportError({ code: 'http-not-mcp', message });
}

/** Refused twice, the first refusal is the one to show; what else hinders the older transport counts by itself. */
function bothRefused(refused: TransportError, older: TransportError): TransportError {
  if (older.failure.code !== 'http-status' && older.failure.code !== 'http-not-mcp') return older;
  const message = `${refused.failure.message}. The older SSE transport did not work either: ${older.failure.message}`;
  return new TransportError({ ...refused.failure, message }, { written: false, cause: older });
}
