/**
 * What the two HTTP transports have in common: the life of a session, and passing on messages and notices.
 *
 * Owns the exchange (sockets), the abort controllers of everything in flight, and the one end of the session. Does not
 * know how messages travel: subclasses do. Longer than 300 lines because it documents every option and holds the whole life
 * of a session; its methods are short.
 *
 * S1. All work for the session holds a controller from `track()`; an end aborts them all with its reason.
 * S2. The session ends once: by `end()` (the server's side is over, `ended` is set) or by `close()` and `kill()`.
 * S3. `onclose` comes after the sockets are gone and every pending `send()` was rejected with the reason.
 * S4. A callback of the host that throws changes nothing here.
 * S5. A server that is silent, asks without end or sends nonsense costs a bounded number of sockets and notices: one
 *     socket for each pending request, and for some seconds after it; 64 each for notifications and for answers.
 */
import type { DiagnosticKind } from '../../diagnostic-kind.js';
import { setImmediate } from 'node:timers/promises';
import type { JSONRPCMessage, RequestId } from '../../mcp/messages.js';
import type { StopPolicy } from '../../../machines/policy/policy.js';
import type { Clock } from '../../ports.js';
import {
  runGuarded,
  type SendOptions,
  type SessionTransport,
  type TransportKind,
  type TransportNotice,
} from '../session-transport.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import { excessOf, type JsonLimits, type MessageLimits } from '../../json/parse-json.js';
import { isAnswer, parseMessages } from '../json-rpc.js';
import { writeJson } from '../../json/write-json.js';
import {
  DEFAULT_MESSAGE_LIMITS,
  excessOfBytes,
  jsonLimits,
  tooLargeAnswer,
  answeredId,
  endsOf,
} from '../message-limits.js';
import { NoiseGate } from '../noise-gate.js';
import { BodyTooLarge, readText } from './body-text.js';
import { parseAddress, shownText, shownUrl } from './server-address.js';
import type { HttpExchange, HttpReply } from './http-exchange.js';
import { createKeepAliveExchange } from './keep-alive-exchange.js';
import { SendQueue } from './send-queue.js';
import type { ChangingHeaders } from './helper-headers.js';
import { SessionRequests, type HttpAuth } from './session-requests.js';

export type OpenExchange = (clock: Clock) => HttpExchange;

/** What sessions with a server revealed about it, for later sessions. */
export interface HttpMemory {
  /** Sessions in a row that the server forgot as soon as the listening stream was open. */
  forgotten: number;
  /** The listening stream stays closed: while it was open, the server answered nothing or forgot the session. */
  isStreamDisabled: boolean;
}

export interface HttpTransportOptions {
  /** Address of the MCP endpoint, `http:` or `https:`. User name and password in it are sent as basic credentials. */
  readonly url: string;
  /** Sent with every request, to the origin of `url` only. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `deleteMs` bounds the DELETE of the session in `close()`; 0 sends none. */
  readonly stop: Pick<StopPolicy, 'deleteMs'>;
  readonly clock: Clock;
  /** Opens the connections of the session. Default: directly, with `node:http`. */
  readonly openExchange?: OpenExchange | undefined;
  readonly auth?: HttpAuth | undefined;
  /** `false` opens no stream for the server's own messages. Default true. */
  readonly listen?: boolean | undefined;
  /** Shared by the sessions with one server. Default: nothing is remembered. */
  readonly memory?: HttpMemory | undefined;
  /** Headers that may change during the session; they take precedence over `headers`. */
  readonly extra?: ChangingHeaders | undefined;
  /** Names of the headers that are passed on from the clients of a gateway. Default: none. */
  readonly forwardHeaders?: readonly string[] | undefined;
  /** How much one message of the server may hold. Default: `DEFAULT_MESSAGE_LIMITS`. */
  readonly limits?: MessageLimits | undefined;
}

/** How a transport posts one message. Resolves with a 2xx reply. */
export type Post = (signal: AbortSignal) => Promise<HttpReply>;

/** A message that needs no answer and gets no reply within this time is given up, so that others get their turn. */
const POST_LIMIT_MS = 10_000;
/** Time for a cancellation to arrive before the exchange of the cancelled request ends. */
const CANCELLATION_MS = 2_000;
const CANCELLED = new TransportError(
  { code: 'connection-lost', message: 'The request was cancelled.' },
  { written: true },
);

export abstract class HttpSession implements SessionTransport {
  abstract readonly kind: TransportKind;
  readonly url: string | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: SessionTransport['onmessage'];
  onnotice?: ((notice: TransportNotice) => void) | undefined;
  onactivity?: (() => void) | undefined;
  onunreachable?: SessionTransport['onunreachable'];
  onsuspect?: (() => void) | undefined;

  protected readonly clock: Clock;
  protected readonly maxMessageBytes: number;
  protected readonly limits: JsonLimits;
  readonly #options: HttpTransportOptions;
  readonly #exchange: HttpExchange;
  readonly #running = new Set<AbortController>();
  readonly #deletion = new AbortController();
  readonly #answers = new SendQueue();
  readonly #notifications = new SendQueue();
  readonly #badMessages: NoiseGate;
  /** Methods of notifications whose refusal has been reported. */
  readonly #refused = new Set<string>();
  /** The redirects that have been reported. */
  readonly #redirects = new Set<string>();
  #requests: SessionRequests | undefined;
  #phase: 'new' | 'open' | 'over' = 'new';
  #ended: RawFailure | undefined;
  #released: Promise<void> | undefined;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#exchange = (options.openExchange ?? createKeepAliveExchange)(options.clock);
    this.url = shownText(options.url);
    this.clock = options.clock;
    this.maxMessageBytes = options.limits?.remoteMessageBytes ?? DEFAULT_MESSAGE_LIMITS.remoteMessageBytes;
    this.limits = jsonLimits(options.limits ?? {});
    this.#badMessages = new NoiseGate(options.clock, ({ count }) => {
      const what = count === 1 ? 'something that is' : `${count} things that are`;
      this.notice('bad-message', `${this.url} sent ${what} not a JSON-RPC message and left out.`);
    });
  }

  abstract start(): Promise<void>;
  abstract send(message: JSONRPCMessage, options?: SendOptions): Promise<void>;
  /** The answer to this request is no longer awaited: ends its exchange, if it still runs. */
  protected abstract letGo(id: RequestId, reason: TransportError): void;

  get ended(): RawFailure | undefined {
    return this.#ended;
  }

  get sessionId(): string | undefined {
    return this.#requests?.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.requests.protocolVersion = version;
  }

  stderrTail(): readonly string[] {
    return [];
  }

  close(): Promise<void> {
    this.#released ??= this.#closeOrderly();
    return this.#released;
  }

  kill(): Promise<void> {
    this.#deletion.abort();
    return this.close();
  }

  drop(id: RequestId): void {
    this.letGo(id, CANCELLED);
  }

  /** Tells the server that the session is over, within the limit of the signal. Must not reject. */
  protected async deleteSession(_signal: AbortSignal): Promise<void> {}

  protected get isOpen(): boolean {
    return this.#phase === 'open';
  }

  protected get requests(): SessionRequests {
    if (this.#requests === undefined) {
      throw new TransportError({ code: 'internal', message: 'The transport has not been started.' });
    }
    return this.#requests;
  }

  /** First step of every `start()`. Throws a `TransportError`. */
  protected open(): void {
    if (this.#phase === 'over') throw this.notOpen();
    if (this.#phase === 'open') {
      throw new TransportError({
        code: 'internal',
        message: 'The transport was started before; it can start only once.',
      });
    }
    const { url, headers, auth, extra, forwardHeaders } = this.#options;
    const address = parseAddress(url, headers);
    this.#requests = new SessionRequests({
      address,
      exchange: this.#exchange,
      clock: this.clock,
      auth,
      extra,
      forwarded: forwardHeaders,
    });
    this.#requests.onredirect = (from, to) => this.#reportRedirect(shownUrl(from), shownUrl(to));
    this.#requests.onreply = (isWord) => (isWord ? this.alive() : this.reached());
    this.#phase = 'open';
  }

  #reportRedirect(from: string, to: string): void {
    if (this.#redirects.has(from + to)) return;
    this.#redirects.add(from + to);
    const message = `${from} redirects to ${to}. Requests follow the redirect, but credentials are never sent to another origin.`;
    this.notice('redirect-followed', message);
  }

  /** First step of every `send()`: the body to post. Throws a `TransportError` if the message cannot be sent. */
  protected serialize(message: JSONRPCMessage): string {
    if (this.#phase !== 'open') throw this.notOpen();
    try {
      return writeJson(message);
    } catch (cause) {
      throw new TransportError(
        { code: 'protocol-error', message: 'The message cannot be written as JSON.' },
        { cause },
      );
    }
  }

  protected notOpen(): TransportError {
    const message = `The session with ${this.url} is not open.`;
    return new TransportError(this.#ended ?? { code: 'connection-lost', message });
  }

  protected track(): AbortController {
    const controller = new AbortController();
    this.#running.add(controller);
    return controller;
  }

  protected untrack(controller: AbortController): void {
    this.#running.delete(controller);
  }

  /** The server's side is over. */
  protected end(failure: RawFailure): void {
    if (this.#phase !== 'open') return;
    this.#ended = failure;
    this.#abortAll(failure);
    this.#released = this.#release().then(() => this.notify(() => this.onclose?.()));
  }

  /** `start()` failed: releases everything; `onclose` stays silent, since there was no session. */
  protected async abandon(): Promise<void> {
    if (this.#phase !== 'open') return;
    this.#abortAll({ code: 'connection-lost', message: 'The start failed.' });
    this.#released = this.#release();
    await this.#released;
  }

  /** Posts a message that gets no answer. Resolves when the server has accepted it. */
  protected async post(message: JSONRPCMessage, body: string, send: Post): Promise<void> {
    const turns = isAnswer(message) ? this.#answers : this.#notifications;
    const posted = turns.take(body, (onTaken) => this.#postInTime(send, onTaken));
    const cancelled = cancelledBy(message);
    if (cancelled === undefined) return posted;
    const patience = this.clock.setTimeout(() => this.letGo(cancelled, CANCELLED), CANCELLATION_MS);
    try {
      await posted;
    } finally {
      this.clock.clearTimeout(patience);
      this.letGo(cancelled, CANCELLED);
    }
  }

  /**
   * Whether the session continues although the server refused this message: a notification needs no answer, and some servers
   * support none. If the session is gone, the next request fails for that reason.
   */
  protected tolerates(message: JSONRPCMessage, error: unknown): boolean {
    if (!('method' in message) || !(error instanceof TransportError)) return false;
    const { code, http } = error.failure;
    if (http === undefined || (code !== 'http-status' && code !== 'session-expired')) return false;
    if (!this.#refused.has(message.method)) {
      this.#refused.add(message.method);
      this.notice(
        'protocol-oddity',
        `${this.url} refuses '${message.method}' (HTTP ${http.status}); the refusal is ignored.`,
      );
    }
    return true;
  }

  /** Settles within its limit, and not before the socket is free. */
  async #postInTime(send: Post, onTaken: () => void): Promise<void> {
    if (!this.isOpen) throw this.notOpen();
    const controller = this.track();
    const limit = this.clock.setTimeout(() => {
      const message = `${this.url} did not take a message within ${POST_LIMIT_MS} ms.`;
      controller.abort(new TransportError({ code: 'connection-lost', message }, { written: true }));
    }, POST_LIMIT_MS);
    try {
      const reply = await send(controller.signal);
      this.clock.clearTimeout(limit);
      onTaken();
      await reply.discard();
    } finally {
      this.clock.clearTimeout(limit);
      this.untrack(controller);
    }
  }

  /** Delivers the messages in a text from the server. `during` is the request that it came in answer to, if any. */
  protected receive(text: string, during?: RequestId): void {
    if (!this.isOpen) return;
    const messages = parseMessages(text, this.limits);
    if (messages !== undefined) for (const message of messages) this.deliver(message, during);
    else if (!this.refuse(text, during)) this.#badMessages.add();
  }

  /** Whether a text was refused because it is beyond a limit. If it answers a request, the request fails. */
  protected refuse(text: string, during?: RequestId): boolean {
    const excess = excessOf(text, this.limits);
    if (excess === undefined) return false;
    this.noteExcess(excess);
    const id = answeredId(endsOf(text));
    if (id !== undefined) this.deliver(tooLargeAnswer(id, excess), during);
    return true;
  }

  /** Reports a message that was skipped. Default: because of its bytes. */
  protected noteExcess(excess = this.excessOfBytes): void {
    this.notice('message-too-large', `Skipped a message of ${this.url} that ${excess}.`);
  }

  /** Fails a request whose answer was skipped. Default: because of its bytes. */
  protected failSkipped(id: RequestId, excess = this.excessOfBytes): void {
    this.deliver(tooLargeAnswer(id, excess), id);
  }

  /** If the body, which answers a request, is beyond a limit, fails the request and returns true. */
  protected refuseAnswer(text: string | BodyTooLarge, id: RequestId): boolean {
    const excess = text instanceof BodyTooLarge ? this.excessOfBytes : excessOf(text, this.limits);
    if (excess === undefined) return false;
    this.noteExcess(excess);
    this.failSkipped(id, excess);
    return true;
  }

  /** The body as text, or an error that says that it is beyond the limit. Rejects with the error that cut the body. */
  protected async read(body: HttpReply['body']): Promise<string | BodyTooLarge> {
    try {
      return await readText(body, this.maxMessageBytes, () => this.alive());
    } catch (error) {
      if (error instanceof BodyTooLarge) return error;
      throw error;
    }
  }

  protected get excessOfBytes(): string {
    return excessOfBytes('remoteMessageBytes', this.maxMessageBytes);
  }

  protected deliver(message: JSONRPCMessage, during?: RequestId): void {
    const context = during === undefined ? undefined : { relatedRequestId: during };
    if (this.#phase === 'open') this.notify(() => this.onmessage?.(message, context));
  }

  protected notice(kind: DiagnosticKind, message: string): void {
    this.notify(() => this.onnotice?.({ kind, message }));
  }

  /** The server has received a message. It has sent nothing. */
  protected reached(): void {}

  /** The server has sent something. */
  protected alive(): void {
    if (this.onactivity !== undefined) this.notify(this.onactivity);
  }

  /** See S4. */
  protected notify(call: () => void): void {
    runGuarded(this, call);
  }

  async #closeOrderly(): Promise<void> {
    const wasOpen = this.#phase === 'open';
    this.#abortAll({ code: 'connection-lost', message: `The session with ${this.url} was closed.` });
    if (wasOpen) await this.#deleteSession();
    await this.#release();
    this.notify(() => this.onclose?.());
  }

  async #deleteSession(): Promise<void> {
    const { deleteMs } = this.#options.stop;
    if (deleteMs === 0 || this.#deletion.signal.aborted) return;
    const timer = this.clock.setTimeout(() => this.#deletion.abort(), deleteMs);
    await this.deleteSession(this.#deletion.signal);
    this.clock.clearTimeout(timer);
  }

  #abortAll(failure: RawFailure): void {
    this.#phase = 'over';
    this.#badMessages.flush();
    const reason = new TransportError(failure, { written: true });
    for (const controller of this.#running) controller.abort(reason);
    this.#running.clear();
  }

  async #release(): Promise<void> {
    await this.#exchange.close();
    await setImmediate();
  }
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.['requestId'] as RequestId | undefined;
}
