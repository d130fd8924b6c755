/**
 * The HTTP+SSE transport of MCP 2024-11-05, client side: one event stream from the server, one address to post to.
 *
 * E1. `start()` resolves when the server has named the address to post to. Whatever host it names, messages are posted to the
 *     origin of the stream: behind a proxy, a server may not know its own address. If it does not know the path there either,
 *     the first message is posted below each folder of the stream's path.
 * E2. The stream is the session: when it ends, the session is over. Nothing can be resumed.
 * E3. The reply to the POST of a request is awaited until the request is answered on the stream, or given up.
 * E4. A refusal that carries the id of its request is its answer. Exceptions: 404, which ends the session, and a refusal of
 *     `initialize`, whose status says whether to try again.
 */
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '../../mcp/messages.js';
import { isWithinOrigin, shownUrl } from './server-address.js';
import { carriesMessage, EVENT_STREAM, isEventStream, readEvents } from './event-stream.js';
import { errorCode, type HttpReply } from './http-exchange.js';
import { JSON_TYPE, leavesDoubt, mediaType, seenByRequest } from './http-refusal.js';
import type { SessionReply } from './session-requests.js';
import { HttpSession, type HttpTransportOptions, type Post } from './http-session.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import type { MessageHeaders, SendOptions, SessionTransport } from '../session-transport.js';
import { isAnswer, isOfCaller, isRequest, mayComeTwice, parseMessages } from '../json-rpc.js';
import { parseUrl } from '../../text/parse-url.js';

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
  /** Addresses to try for the first message if `#endpoint` does not exist. */
  #alternatives: readonly URL[] = [];
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

  async send(message: JSONRPCMessage, { headers }: SendOptions = {}): Promise<void> {
    const body = this.serialize(message);
    try {
      const send: Post = (signal) => this.#post(body, message, signal, headers);
      if (isRequest(message)) await this.#postRequest(message, send);
      else await this.post(message, body, send);
      this.#hasAccepted = true;
    } catch (error) {
      if (!isRequest(message) && this.tolerates(message, error)) return;
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

  async #postRequest(request: JSONRPCRequest, send: Post): Promise<void> {
    const { id, method } = request;
    const posting: Posting = { controller: this.track(), isAnswered: false };
    this.#posting.set(id, posting);
    try {
      const reply = await send(posting.controller.signal);
      if (mediaType(reply) === JSON_TYPE) await this.#readAnswer(reply, posting, id);
      else void reply.discard();
    } catch (error) {
      if (posting.isAnswered) return;
      const failure = error instanceof TransportError ? error.failure : undefined;
      const countsByStatus = method === 'initialize' || failure?.http?.status === 404;
      const seen = countsByStatus ? { error } : seenByRequest(error, request);
      if ('answer' in seen) return this.deliver(seen.answer, id);
      const isDoubtful =
        failure !== undefined && leavesDoubt(failure, method) && !posting.controller.signal.aborted;
      if (isDoubtful) this.notify(() => this.onsuspect?.());
      throw error;
    } finally {
      this.clock.clearTimeout(posting.limit);
      this.#posting.delete(id);
      this.untrack(posting.controller);
    }
  }

  /** Contrary to the specification, some servers answer in the reply to the POST. */
  async #readAnswer(reply: HttpReply, posting: Posting, id: RequestId): Promise<void> {
    const text = await this.read(reply.body).catch(() => '');
    const messages = typeof text === 'string' ? parseMessages(text, this.limits) : undefined;
    if (posting.isAnswered) return;
    if (messages === undefined) this.refuseAnswer(text, id);
    else for (const message of messages.filter(isAnswer)) this.deliver(message, id);
  }

  async #post(
    body: string,
    message: JSONRPCMessage,
    signal: AbortSignal,
    headers: MessageHeaders | undefined,
  ): Promise<HttpReply> {
    let first: unknown;
    for (;;) {
      const url = this.#postAddress();
      try {
        const reply = await this.requests.send({
          method: 'POST',
          url,
          body,
          mayComeTwice: mayComeTwice(message),
          isOfCaller: isOfCaller(message),
          headers,
          signal,
        });
        if (first !== undefined) {
          const message = `${this.url} named a path for messages that does not exist. Messages are posted to ${shownUrl(url)}.`;
          this.notice('protocol-oddity', message);
        }
        return reply;
      } catch (error) {
        first ??= error;
        const [next, ...others] = this.#hasAccepted || !isNotFound(error) ? [] : this.#alternatives;
        if (next === undefined) throw first;
        this.#endpoint = next;
        this.#alternatives = others;
      }
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
  async #read(reply: SessionReply, signal: AbortSignal, onEndpoint: () => void): Promise<RawFailure> {
    try {
      await readEvents(reply.body, {
        maxSize: this.maxMessageBytes,
        onactivity: () => this.alive(),
        // E2: the stream is never resumed.
        onRetry: () => {},
        onOversize: () => this.noteExcess(),
        onSkippedAnswer: (id) => this.failSkipped(id),
        onEvent: (event) => {
          if (event.event === 'endpoint') {
            if (this.#endpoint === undefined) this.#resolveEndpoint(event.data, reply.url);
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

  #resolveEndpoint(text: string, stream: URL): void {
    const named = parseUrl(text, stream);
    if (named === undefined) {
      const message = `${this.url} named an invalid address for messages.`;
      throw new TransportError({ code: 'http-not-mcp', message });
    }
    const isWithin = isWithinOrigin(stream, named);
    const endpoint = isWithin ? named : new URL(named.pathname + named.search, stream);
    if (!isWithin) {
      const message = `${this.url} names an address for messages on another origin, ${shownUrl(named)}. Messages are posted to ${shownUrl(endpoint)} instead.`;
      this.notice('protocol-oddity', message);
    }
    this.#endpoint = endpoint;
    this.#alternatives = belowFolders(endpoint, stream);
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

/** The same path below each folder of the stream's path, the longest first; empty if it is already in one of them. */
function belowFolders(endpoint: URL, stream: URL): readonly URL[] {
  const folders = stream.pathname.split('/').slice(1, -1);
  if (folders.length === 0 || endpoint.pathname.startsWith(`/${folders[0]}/`)) return [];
  return folders
    .map((_, index) => `/${folders.slice(0, folders.length - index).join('/')}`)
    .map((folder) => new URL(folder + endpoint.pathname + endpoint.search, endpoint));
}

function isNotFound(error: unknown): boolean {
  const status = error instanceof TransportError ? error.failure.http?.status : undefined;
  return status === 404 || status === 405;
}

/** What a refusal says about a session that has accepted messages before; undefined if nothing. */
function sessionOver(failure: RawFailure): RawFailure | undefined {
  const { code, message, http } = failure;
  if (code === 'auth-required') return failure;
  return http?.status === 404 ? { code: 'session-expired', message, http } : undefined;
}
