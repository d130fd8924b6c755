/**
 * The streamable HTTP transport (MCP 2025-03-26 to 2025-11-25, "Transports"), client side.
 *
 * Owns which requests are unanswered and what each kind of failure means. `answer-stream.ts` reads and resumes the stream
 * of one answer, `listening-stream.ts` keeps the stream for the server's own messages open. Longer than 300 lines
 * because every outcome of a request and the listening stream depend on the same state of the session.
 *
 * H1. Every request has one outcome: its answer through `onmessage`, a rejection of `send()`, or `onlost`. Only the end
 *     of the session (`onclose`) and a cancellation by the caller settle it otherwise.
 * H2. `send()` of a request resolves when a stream for its answer is open, or when a JSON answer has been delivered.
 * H3. `written` is false if the server refused with 4xx, 307 or 308: it did not accept the message. A refusal with 4xx
 *     that carries the id of the request is its answer (see `http-refusal.ts`, N2).
 * H4. The listening stream is optional. If the server answers nothing while it is open, or forgets two sessions in a row as
 *     soon as it is, the stream stays closed from then on.
 */
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '../../mcp/messages.js';
import { pause } from '../../async/abort.js';
import { OlderServer, readAnswer } from './answer-stream.js';
import { beginsAsJson } from './body-text.js';
import { EVENT_STREAM, isEventStream } from './event-stream.js';
import { errorCode } from './http-exchange.js';
import { JSON_TYPE, leavesDoubt, mediaType, seenByFirst, seenByRequest } from './http-refusal.js';
import { HttpSession, type HttpMemory, type HttpTransportOptions } from './http-session.js';
import { isAnswer, isOfCaller, isRequest, mayComeTwice, parseMessages } from '../json-rpc.js';
import { listen } from './listening-stream.js';
import type { SessionReply } from './session-requests.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import type { SendOptions, SessionTransport } from '../session-transport.js';
import { isJsonObject } from '../../json/json-object.js';

/** Other types with which servers send JSON; the last alternative matches replies without a type. */
const ALSO_JSON = /^(?:text\/json|text\/plain|application\/octet-stream|application\/[\w.-]+\+json|)$/;
/** After one request has found the session gone, the others in flight have this long to get their own replies. */
const LAST_REPLIES_MS = 2_000;
/** A message without a reply for this long while the listening stream is open may be waiting for the stream to end. */
const STALLED_MS = 5_000;
/** If it was waiting, its reply comes within this time after the end of the stream. */
const RELIEVED_MS = 3_000;
const MAX_FORGOTTEN = 2;

/** Called instead of `onlost` if the reply to `initialize` shows that the server speaks the older transport. */
type OnOlder = (initialize: JSONRPCRequest, error: OlderServer) => void;

const STREAM_CLOSED = new TransportError({ code: 'connection-lost', message: 'The stream was closed.' });

export function createStreamableHttpTransport(
  options: HttpTransportOptions,
  onolder?: OnOlder,
): SessionTransport {
  return new StreamableHttpTransport(options, onolder);
}

class StreamableHttpTransport extends HttpSession {
  readonly kind = 'http';
  onlost?: ((id: RequestId, failure: RawFailure) => void) | undefined;

  readonly #onolder: OnOlder | undefined;
  readonly #unanswered = new Map<RequestId, AbortController>();
  #awaitingReply = 0;
  #unreachable = 0;
  #isInitialized = false;
  /** The listening stream, from its first request on. */
  #listening: AbortController | undefined;
  /** The listening stream is open. */
  #isListening = false;
  /** Whether messages get replies while the listening stream is open. `asking`: it was closed to find out. */
  #answersWhileListening: 'unknown' | 'asking' | 'yes' = 'unknown';
  #relief: AbortController | undefined;
  readonly #memory: HttpMemory;
  readonly #mayListen: boolean;
  /** Why nothing more is sent: the server does not know the session, or refuses its credentials. */
  #gone: RawFailure | undefined;
  /** Requests in flight may finish, however long they take: only one request needed more scope. */
  #isFinishing = false;

  constructor(options: HttpTransportOptions, onolder: OnOlder | undefined) {
    super(options);
    this.#onolder = onolder;
    this.#memory = options.memory ?? { forgotten: 0, isStreamDisabled: false };
    this.#mayListen = options.listen ?? true;
  }

  /** Set as soon as one request has found the session gone, although the last replies are still awaited. */
  override get ended(): RawFailure | undefined {
    return super.ended ?? this.#gone;
  }

  async start(): Promise<void> {
    this.open();
  }

  async send(message: JSONRPCMessage, options: SendOptions = {}): Promise<void> {
    const body = this.serialize(message);
    if (isRequest(message)) return this.#request(message, body, options);
    try {
      await this.post(message, body, (signal) => this.#post(message, body, signal));
    } catch (error) {
      if (!this.tolerates(message, error)) {
        this.#judge(error);
        throw error;
      }
    }
    if ('method' in message && message.method === 'notifications/initialized') this.#initialized();
  }

  protected override async deleteSession(signal: AbortSignal): Promise<void> {
    if (this.sessionId === undefined) return;
    try {
      const reply = await this.requests.send({ method: 'DELETE', mayComeTwice: true, signal });
      void reply.discard();
    } catch (error) {
      const failure = error instanceof TransportError ? error.failure : undefined;
      // 405: the server ends sessions by itself; 404: it has done so.
      if (failure?.http?.status === 404 || failure?.http?.status === 405) return;
      const reason = failure?.message ?? 'no reply came in time';
      this.notice('session-delete-failed', `The session with ${this.url} could not be deleted: ${reason}`);
    }
  }

  /** An answer is delivered once: a resumed stream may repeat it, and a cancelled request may still get one. */
  protected override deliver(message: JSONRPCMessage, during?: RequestId): void {
    if (isAnswer(message) && (message.id === undefined || !this.#unanswered.delete(message.id))) return;
    super.deliver(message, during);
    this.#endIfOver();
  }

  protected override reached(): void {
    this.#unreachable = 0;
  }

  protected override alive(): void {
    this.reached();
    super.alive();
  }

  async #request(request: JSONRPCRequest, body: string, options: SendOptions): Promise<void> {
    const { id, method } = request;
    const isStateless = options.stateless !== undefined;
    // A client that asks for more has accepted the server's answer to the first question.
    if (isStateless && method !== 'server/discover') this.#isInitialized = true;
    const controller = this.track();
    this.#unanswered.set(id, controller);
    try {
      const reply = await this.#post(request, body, controller.signal, options);
      if (method === 'initialize') {
        this.requests.sessionId = reply.header('mcp-session-id');
        // The server is there, whatever it answers: the handshake distinguishes that from silence.
        this.alive();
      }
      if (isEventStream(reply)) return void this.#readStream(request, reply, controller, !isStateless);
      const type = mediaType(reply);
      if (type === JSON_TYPE) await this.#readJson(id, reply);
      // Against the specification, some servers answer on the listening stream.
      else if (reply.status === 202 && this.#listening !== undefined) void reply.discard();
      else await this.#readUntyped(id, type, reply);
      this.untrack(controller);
    } catch (error) {
      const seen = method === 'initialize' ? seenByFirst(error, request) : seenByRequest(error, request);
      if ('answer' in seen) this.deliver(seen.answer, id);
      else this.#judge(seen.error);
      this.#settle(id, controller);
      if ('answer' in seen) return;
      const thrown = explained(seen.error, controller.signal, this.url);
      this.#doubtAfter(method, thrown.failure, controller.signal);
      throw thrown;
    }
  }

  /** Posts any message. Resolves with a 2xx reply. */
  async #post(
    message: JSONRPCMessage,
    body: string,
    signal: AbortSignal,
    { headers, stateless }: SendOptions = {},
  ): Promise<SessionReply> {
    if (this.#gone !== undefined) throw new TransportError(this.#gone);
    this.#awaitingReply += 1;
    const wasListening = this.#isListening;
    const stall = this.#watchForStall();
    try {
      const reply = await this.requests.send({
        method: 'POST',
        body,
        accept: `${JSON_TYPE}, ${EVENT_STREAM}`,
        mayComeTwice: mayComeTwice(message),
        isOfCaller: isOfCaller(message),
        headers,
        stateless,
        signal,
      });
      this.#noteReply(wasListening);
      return reply;
    } finally {
      this.clock.clearTimeout(stall);
      this.#awaitingReply -= 1;
      this.#endIfOver();
    }
  }

  /** The type does not say whether it is JSON, so the start of the body decides. */
  async #readUntyped(id: RequestId, type: string, reply: SessionReply): Promise<void> {
    if (!ALSO_JSON.test(type)) throw await this.requests.notMcp(reply);
    const { isJson, body } = await beginsAsJson(reply.body);
    const whole = { ...reply, body };
    if (!isJson) throw await this.requests.notMcp(whole);
    await this.#readJson(id, whole);
  }

  async #readJson(id: RequestId, reply: SessionReply): Promise<void> {
    const text = await this.read(reply.body);
    const messages = typeof text === 'string' ? parseMessages(text, this.limits) : undefined;
    if (messages === undefined) {
      if (this.refuseAnswer(text, id)) return;
      throw await this.requests.notMcp(reply, String(text));
    }
    for (const message of messages) this.deliver(message, id);
    if (this.#unanswered.has(id)) throw unanswered(messages, this.url);
  }

  /** Never rejects. */
  async #readStream(
    request: JSONRPCRequest,
    reply: SessionReply,
    controller: AbortController,
    mayResume: boolean,
  ): Promise<void> {
    const { id, method } = request;
    try {
      await readAnswer(
        {
          requests: this.requests,
          clock: this.clock,
          maxMessageBytes: this.maxMessageBytes,
          onData: (data) => this.receive(data, id),
          onOversize: () => {
            this.noteExcess();
            this.failSkipped(id);
          },
          onactivity: () => this.alive(),
          mayResume,
          isAnswered: () => !this.#unanswered.has(id),
        },
        reply,
        controller,
      );
    } catch (error) {
      if (error instanceof OlderServer && method === 'initialize' && this.#onolder !== undefined) {
        return this.#onolder(request, error);
      }
      const { failure } = explained(error, controller.signal, this.url);
      if (this.isOpen && this.#unanswered.has(id)) this.notify(() => this.onlost?.(id, failure));
      this.#judge(error);
      this.#doubtAfter(method, failure, controller.signal);
    } finally {
      this.#settle(id, controller);
    }
  }

  #initialized(): void {
    if (this.#isInitialized) return;
    this.#isInitialized = true;
    if (this.#mayListen && !this.#memory.isStreamDisabled) this.#listen();
  }

  /** See H4. */
  #watchForStall(): unknown {
    if (this.#listening === undefined || this.#answersWhileListening !== 'unknown') return undefined;
    return this.clock.setTimeout(() => {
      if (this.#listening === undefined || this.#answersWhileListening !== 'unknown') return;
      this.#answersWhileListening = 'asking';
      this.#closeStream();
      void this.#awaitRelief();
    }, STALLED_MS);
  }

  /** Opens the stream again if no reply comes without it: the server is only slow. Never rejects. */
  async #awaitRelief(): Promise<void> {
    const controller = this.track();
    this.#relief = controller;
    try {
      await pause(this.clock, RELIEVED_MS, controller.signal);
      this.#answersWhileListening = 'yes';
      this.#listen();
    } catch {
      // A reply has come, or the session is over.
    } finally {
      this.untrack(controller);
    }
  }

  /** A reply has come. `wasListening`: the listening stream was open when its message was sent. */
  #noteReply(wasListening: boolean): void {
    if (this.#answersWhileListening === 'asking') {
      this.#relief?.abort(STREAM_CLOSED);
      this.#answersWhileListening = 'yes';
      this.#keepClosed('answers nothing while it is open');
    } else if (wasListening && this.#isListening) {
      this.#answersWhileListening = 'yes';
      this.#memory.forgotten = 0;
    }
  }

  #keepClosed(reason: string): void {
    this.#memory.isStreamDisabled = true;
    const message = `The stream for the server's own messages stays closed: ${this.url} ${reason}.`;
    this.notice('no-listening-stream', message);
  }

  #closeStream(): void {
    const controller = this.#listening;
    this.#listening = undefined;
    this.#isListening = false;
    controller?.abort(STREAM_CLOSED);
  }

  #listen(): void {
    const controller = this.track();
    this.#listening = controller;
    const listening = listen(
      {
        requests: this.requests,
        clock: this.clock,
        maxMessageBytes: this.maxMessageBytes,
        onData: (data) => this.receive(data),
        onactivity: () => this.alive(),
        onOversize: () => this.noteExcess(),
        onSkippedAnswer: (id) => this.failSkipped(id),
        onNotice: ({ kind, message }) => this.notice(kind, message),
        onOpen: () => (this.#isListening = this.#listening === controller),
        onUnreachable: (error) => this.#countUnreachable(error),
        onBroken: () => this.#doubt(),
        onSessionGone: (failure) => this.#markGone(failure),
      },
      controller.signal,
    );
    const stop = (): void => {
      this.untrack(controller);
      if (this.#listening !== controller) return;
      this.#listening = undefined;
      this.#isListening = false;
    };
    listening.then(stop, stop);
  }

  /** What a failed request says about the session as a whole. */
  #judge(error: unknown): void {
    if (!(error instanceof TransportError)) return;
    const { code } = error.failure;
    if (code === 'session-expired') {
      if (this.#listening !== undefined && this.#answersWhileListening === 'unknown') this.#noteForgotten();
      this.#markGone(error.failure);
    }
    if (code === 'auth-required' && this.#isInitialized) {
      this.#isFinishing ||= error.failure.http?.status === 403;
      this.#markGone(error.failure);
    }
    if (code === 'address-refused') this.#countUnreachable(error);
  }

  #noteForgotten(): void {
    this.#memory.forgotten += 1;
    if (this.#memory.forgotten === MAX_FORGOTTEN) this.#keepClosed('forgets the session when it is opened');
  }

  #doubtAfter(method: string, failure: RawFailure, signal: AbortSignal): void {
    if (leavesDoubt(failure, method) && !signal.aborted) this.#doubt();
  }

  #doubt(): void {
    if (this.isOpen) this.notify(() => this.onsuspect?.());
  }

  /** Reported after the request that failed has settled, so that it does not count as sent. */
  #countUnreachable({ failure }: TransportError): void {
    this.#unreachable += 1;
    const count = this.#unreachable;
    if (!this.#isInitialized) return;
    const gone = {
      ...failure,
      code: 'connection-lost',
      message: `The server is gone: ${failure.message}`,
    } as const;
    this.clock.setTimeout(() => {
      if (this.isOpen) this.notify(() => this.onunreachable?.(count, gone));
    }, 0);
  }

  #markGone(failure: RawFailure): void {
    if (this.#gone !== undefined || !this.isOpen) return;
    this.#gone = failure;
    if (this.#isFinishing) return this.#endIfOver();
    if (this.#awaitingReply === 0) return this.end(failure);
    const end = (): void => this.end(failure);
    pause(this.clock, LAST_REPLIES_MS, this.track().signal).then(end, end);
  }

  protected override letGo(id: RequestId, reason: TransportError): void {
    const controller = this.#unanswered.get(id);
    if (controller === undefined) return;
    this.#settle(id, controller);
    controller.abort(reason);
  }

  #settle(id: RequestId, controller: AbortController): void {
    this.#unanswered.delete(id);
    this.untrack(controller);
    this.#endIfOver();
  }

  #endIfOver(): void {
    if (this.#gone === undefined || this.#awaitingReply > 0) return;
    if (!this.#isFinishing || this.#unanswered.size === 0) this.end(this.#gone);
  }
}

/** The error that broke an answer, as a failure. */
function explained(error: unknown, signal: AbortSignal, url: string | undefined): TransportError {
  if (error instanceof TransportError) return error;
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (cause instanceof TransportError) return cause;
  const message = `The answer of ${url} broke off (${errorCode(cause)}).`;
  return new TransportError({ code: 'connection-lost', message }, { written: true, cause });
}

/** The failure for a JSON answer without the requested response; typically it is an error whose `id` is null. */
function unanswered(messages: readonly JSONRPCMessage[], url: string | undefined): TransportError {
  const errors = messages.map((one): unknown => ('error' in one ? one.error : undefined));
  const { code, message: reason } = errors.find(isJsonObject) ?? {};
  const why = typeof reason === 'string' ? `: ${reason}` : '.';
  const failure: RawFailure = {
    code: 'protocol-error',
    message: `${url} answered the request without a response to it${why}`,
    ...(typeof code === 'number' ? { rpcCode: code } : {}),
  };
  return new TransportError(failure, { written: true });
}
