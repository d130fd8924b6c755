/**
 * The HTTP+SSE transport of MCP 2024-11-05, client side: one event stream from the server, one address to post to.
 *
 * E1. `start()` resolves when the server has named the address to post to, which must be within the stream's origin.
 * E2. The stream is the session: when it ends, the session is over. Nothing can be resumed.
 * E3. The reply to the POST of a request is awaited until the request is answered on the stream, or given up.
 * E4. A refusal that carries the id of its request is its answer. Exceptions: 404, which ends the session, and a refusal of
 *     `initialize`, whose status says whether to try again.
 */
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { isWithinOrigin } from './server-address.js';
import { carriesMessage, EVENT_STREAM, isEventStream, readEvents } from './event-stream.js';
import { errorCode, type HttpReply } from './http-exchange.js';
import { leavesDoubt, seenByRequest } from './http-refusal.js';
import { HttpSession, type HttpTransportOptions } from './http-session.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import type { SessionTransport } from '../session-transport.js';
import { isAnswer, isOfCaller, isRequest, mayComeTwice } from '../json-rpc.js';

/** Time for the reply to a POST after its request was answered. */
const REPLY_AFTER_ANSWER_MS = 1_000;

/** The POST of a request, until it has its reply. */
interface Posting {
  readonly controller: AbortController;
  /** The request was answered, so the reply no longer matters. */
  isAnswered: boolean;
  limit?: unknown;
}

/** `namingMs` limits the wait for an address after the stream is open. Default: as long as the start may take. */
export function createSseTransport(options: HttpTransportOptions, namingMs?: number): SessionTransport {
  return new SseTransport(options, namingMs);
}

class SseTransport extends HttpSession {
  readonly kind = 'sse';
  readonly #namingMs: number | undefined;
  #endpoint: URL | undefined;
  /** The server has accepted a message, so a later 404 or 401 is about the session and not about the address. */
  #hasAccepted = false;
  readonly #posting = new Map<RequestId, Posting>();

  constructor(options: HttpTransportOptions, namingMs: number | undefined) {
    super(options);
    this.#namingMs = namingMs;
  }

  async start(): Promise<void> {
    this.open();
    const controller = this.track();
    let limit: unknown;
    try {
      const { signal } = controller;
      const reply = await this.requests.send({ method: 'GET', accept: EVENT_STREAM, signal });
      if (!isEventStream(reply)) throw await this.requests.notMcp(reply);
      limit = this.#limitNaming(controller);
      await new Promise<void>((resolve, reject) => {
        void this.#read(reply, signal, resolve).then((failure) => {
          reject(new TransportError(failure));
          if (this.#endpoint !== undefined) this.end(failure);
        });
      });
    } catch (error) {
      await this.abandon();
      throw error;
    } finally {
      this.clock.clearTimeout(limit);
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const body = this.serialize(message);
    try {
      const url = this.#postAddress();
      const send = (signal: AbortSignal): Promise<HttpReply> =>
        this.requests.send({
          method: 'POST',
          url,
          body,
          mayComeTwice: mayComeTwice(message),
          isOfCaller: isOfCaller(message),
          signal,
        });
      if (isRequest(message)) await this.#postRequest(message, send);
      else await this.post(message, body, send);
      this.#hasAccepted = true;
    } catch (error) {
      throw this.#judged(error);
    }
  }

  protected override deliver(message: JSONRPCMessage, during?: RequestId): void {
    super.deliver(message, during);
    const posting = isAnswer(message) && message.id !== undefined ? this.#posting.get(message.id) : undefined;
    if (posting === undefined || posting.isAnswered) return;
    posting.isAnswered = true;
    posting.limit = this.clock.setTimeout(() => posting.controller.abort(), REPLY_AFTER_ANSWER_MS);
  }

  protected override letGo(id: RequestId, reason: TransportError): void {
    this.#posting.get(id)?.controller.abort(reason);
  }

  async #postRequest(
    request: JSONRPCRequest,
    send: (signal: AbortSignal) => Promise<HttpReply>,
  ): Promise<void> {
    const { id, method } = request;
    const posting: Posting = { controller: this.track(), isAnswered: false };
    this.#posting.set(id, posting);
    try {
      const reply = await send(posting.controller.signal);
      void reply.discard();
    } catch (error) {
      if (posting.isAnswered) return;
      const failure = error instanceof TransportError ? error.failure : undefined;
      const countsByStatus = method === 'initialize' || failure?.http?.status === 404;
      const seen = countsByStatus ? { error } : seenByRequest(error, request);
      if ('answer' in seen) return this.deliver(seen.answer, id);
      const isDoubtful =
        failure !== undefined && leavesDoubt(failure, method) && !posting.controller.signal.aborted;
      if (isDoubtful) this.tell(() => this.onsuspect?.());
      throw error;
    } finally {
      this.clock.clearTimeout(posting.limit);
      this.#posting.delete(id);
      this.untrack(posting.controller);
    }
  }

  #limitNaming(stream: AbortController): unknown {
    const ms = this.#namingMs;
    if (ms === undefined) return undefined;
    return this.clock.setTimeout(() => {
      const message = `${this.url} named no address to post to within ${ms} ms.`;
      stream.abort(new TransportError({ code: 'http-not-mcp', message }));
    }, ms);
  }

  /** Resolves with the reason why the stream is over. Never rejects. */
  async #read(reply: HttpReply, signal: AbortSignal, onEndpoint: () => void): Promise<RawFailure> {
    try {
      await readEvents(reply.body, {
        maxSize: this.maxMessageBytes,
        onWord: () => this.alive(),
        // E2: the stream is never resumed.
        onRetry: () => {},
        onOversize: () =>
          this.notice(
            'message-too-large',
            `Skipped a message above the limit of ${this.maxMessageBytes} bytes.`,
          ),
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

/** What a refusal says about a session that has accepted messages before; undefined if nothing. */
function sessionOver(failure: RawFailure): RawFailure | undefined {
  const { code, message, http } = failure;
  if (code === 'auth-required') return failure;
  return http?.status === 404 ? { code: 'session-expired', message, http } : undefined;
}
