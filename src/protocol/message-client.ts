/**
 * What the protocol clients of both eras have in common: numbers our requests, matches the answers, cancels requests that
 * are given up, and sorts what the server sends. It does not start or close a transport and sets no timers: callers have
 * their own limits. Longer than 300 lines because both directions of the exchange share the requests in flight.
 */
import type { JSONRPCMessage, RequestId } from '../mcp/messages.js';
import type { ServerIdentity } from '../../machines/connection/connection.events.js';
import type { JsonObject } from '../json/json-object.js';
import { cutText } from '../text/visible-text.js';
import { toError } from '../text/error-message.js';
import type { SendOptions, SessionTransport } from '../transports/session-transport.js';
import { TransportError, type RawFailure } from '../failures/transport-error.js';
import { toCancelled, toInbound, toProgress, type Inbound, type InboundRequest } from './inbound-message.js';
import {
  RequestLostError,
  type Cause,
  type ClientOwner,
  type ProtocolClient,
  type ProtocolClientOptions,
  type RequestOptions,
  type RequestOrigin,
  type Progress,
} from './protocol-client.js';
import { canRaiseQuestions, type Pending } from './inbound-requests.js';
import type { AbortListener } from '../async/abort.js';

const CLOSED_BY_US: RawFailure = { code: 'connection-lost', message: 'The connection was closed.' };

const INVALID_ANSWER: RawFailure = {
  code: 'protocol-error',
  message: 'The server sent an answer that is not valid JSON-RPC.',
};

export type Answer = Extract<Inbound, { kind: 'answer' }>;
type Notification = Extract<Inbound, { kind: 'notification' }>;

export abstract class MessageClient implements ProtocolClient, SentRequestOwner {
  owner: ClientOwner | undefined;
  onwire: ((direction: 'sent' | 'received', message: object) => void) | undefined;
  /** Requests without an answer, by id. */
  protected readonly sent = new Map<number, SentRequest>();
  /** Undefined before `open` and after the end. */
  protected transport: SessionTransport | undefined;
  readonly #firstId: number;
  #nextId: number;

  constructor(protected readonly options: ProtocolClientOptions) {
    this.#firstId = options.firstId ?? 0;
    this.#nextId = this.#firstId;
  }

  abstract open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity>;
  abstract request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  abstract mayGoOn(id: number, cause: Cause): void;
  abstract cancel(id: number): void;
  protected abstract receiveRequest(request: InboundRequest, relatedTo: RequestId | undefined): void;
  protected abstract receiveCancelled(id: RequestId, reason: string | undefined): void;
  /** The result of a request as its caller gets it. */
  protected abstract read(method: string, result: JsonObject): JsonObject;

  get pending(): number {
    return this.sent.size;
  }

  get lastRequestId(): number | undefined {
    return this.#nextId === this.#firstId ? undefined : this.#nextId - 1;
  }

  forget(id: number): void {
    this.sent.delete(id);
  }

  abandon(failure: RawFailure): void {
    this.transport = undefined;
    for (const sent of this.sent.values()) sent.fail(new RequestLostError(failure, sent.written));
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    const { transport } = this;
    if (transport === undefined) throw new RequestLostError(CLOSED_BY_US, false);
    try {
      await this.#send(transport, { method, ...(params === undefined ? {} : { params }), jsonrpc: '2.0' });
    } catch (error) {
      throw toLost(error, false);
    }
  }

  protected attach(transport: SessionTransport): void {
    this.transport = transport;
    transport.onmessage = (message, context) => {
      this.onwire?.('received', message);
      this.#receive(toInbound(message), context?.relatedRequestId);
    };
    transport.onerror = (error) => this.#reportUnlessEnded(transport, error.message);
    transport.onlost = (id, failure) =>
      void this.sent.get(ownId(id))?.fail(new RequestLostError(failure, true));
  }

  /** Sends one request, with the progress token if its caller listens. */
  protected exchange(
    method: string,
    params: JsonObject,
    options: RequestOptions,
    how?: SendOptions,
  ): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const { signal, onProgress } = options;
      const { transport } = this;
      if (signal?.aborted === true) return reject(toError(signal.reason));
      if (transport === undefined) return reject(new RequestLostError(CLOSED_BY_US, false));
      const id = this.#nextId;
      this.#nextId += 1;
      const sent = new SentRequest(id, method, { options, resolve, reject }, this);
      this.sent.set(id, sent);
      const sentParams = onProgress === undefined ? params : withProgressToken(params, id);
      const message: JSONRPCMessage = { method, params: sentParams, jsonrpc: '2.0', id };
      this.#send(transport, message, how).catch((error: unknown) => {
        const lost = toLost(error, true);
        sent.written = lost.written;
        sent.fail(lost);
      });
      sent.written = true;
    });
  }

  /** Sends a message without an answer. */
  protected async post(message: JSONRPCMessage): Promise<void> {
    const { transport } = this;
    if (transport === undefined) return;
    try {
      await this.#send(transport, message);
    } catch (error) {
      this.#reportUnlessEnded(transport, `A message could not be sent: ${toError(error).message}`);
    }
  }

  /** Uses only what the transport says: a late notification would be attributed to the next request. */
  protected originOf(relatedTo: RequestId | undefined): RequestOrigin | undefined {
    return relatedTo === undefined ? undefined : this.sent.get(ownId(relatedTo))?.origin;
  }

  /** A late answer to a request that was given up is not odd. */
  protected receiveAnswer({ id, result, error }: Answer): void {
    const sent = this.sent.get(id);
    if (sent === undefined) {
      if (!(id < this.#nextId)) this.owner?.onoddity?.('The server answered a request that was never sent.');
    } else if (result !== undefined) {
      sent.answer(this.read(sent.method, result));
    } else {
      sent.fail(error?.answering(sent.method) ?? new RequestLostError(INVALID_ANSWER, true));
    }
  }

  protected receiveNotification({ method, params }: Notification, relatedTo: RequestId | undefined): void {
    if (method === 'notifications/progress') this.#receiveProgress(params);
    else if (method === 'notifications/cancelled') this.#receiveCancelled(params);
    else this.owner?.onnotification?.(method, params, this.originOf(relatedTo));
  }

  #send(transport: SessionTransport, message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    this.onwire?.('sent', message);
    return transport.send(message, options);
  }

  #reportUnlessEnded(transport: SessionTransport, message: string): void {
    if (transport.ended === undefined && this.transport === transport) this.owner?.onoddity?.(message);
  }

  #receive(came: Inbound, relatedTo: RequestId | undefined): void {
    switch (came.kind) {
      case 'odd':
        this.owner?.onoddity?.(came.what);
        break;
      case 'answer':
        this.receiveAnswer(came);
        break;
      case 'request':
        this.receiveRequest(came, relatedTo);
        break;
      case 'notification':
        this.#notified(came, relatedTo);
    }
  }

  #notified(came: Notification, relatedTo: RequestId | undefined): void {
    try {
      this.receiveNotification(came, relatedTo);
    } catch (error) {
      this.owner?.onoddity?.(
        `${cutText(came.method, 100)} could not be processed: ${toError(error).message}`,
      );
    }
  }

  /** The token is the id of the request. */
  #receiveProgress(params: JsonObject): void {
    const update = toProgress(params);
    if (update === undefined) return this.owner?.onoddity?.('The server sent progress that is not valid.');
    this.#reportFlaws('Progress', update.flaws);
    this.sent.get(ownId(update.token))?.onProgress?.(update.progress);
  }

  #receiveCancelled(params: JsonObject): void {
    const cancelled = toCancelled(params);
    if (cancelled === undefined)
      return this.owner?.onoddity?.('The server sent a cancellation that is not valid.');
    this.#reportFlaws('A cancellation', cancelled.flaws);
    if (cancelled.requestId !== undefined) this.receiveCancelled(cancelled.requestId, cancelled.reason);
  }

  #reportFlaws(what: string, flaws: readonly string[]): void {
    for (const field of flaws)
      this.owner?.onoddity?.(`${what} is kept without its ${field}: it has the wrong type.`);
  }
}

/** The message that cancels a request (MCP specification, "Cancellation"). */
export function cancellationOf(requestId: number): JSONRPCMessage {
  const params = { requestId, reason: 'The caller no longer waits for the result.' };
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params };
}

/** Begins with a field of its own: in Node 20, an object that begins with a spread has a layout of its own and costs a microsecond. */
export function withMeta(params: JsonObject, meta: JsonObject): JsonObject {
  const sent: Record<string, unknown> = { _meta: meta, ...params };
  sent['_meta'] = meta;
  return sent;
}

function withProgressToken(params: JsonObject, progressToken: number): JsonObject {
  const meta = { progressToken, ...(params['_meta'] as JsonObject | undefined) };
  meta.progressToken = progressToken;
  return withMeta(params, meta);
}

/** The number of a request of ours; `NaN` if it is neither a number nor a string. A transport of the host may pass anything. */
export function ownId(id: unknown): number {
  return typeof id === 'number' || typeof id === 'string' ? Number(id) : NaN;
}

/** `written` applies if the error does not say. */
function toLost(error: unknown, written: boolean): RequestLostError {
  if (error instanceof TransportError) return new RequestLostError(error.failure, error.written);
  return new RequestLostError({ code: 'connection-lost', message: toError(error).message }, written);
}

// One request of ours, until it is answered, fails, or is given up.
//
// Then it drops its reference to the waiter: a `Map` with many deletions keeps deleted entries, and everything they
// refer to, alive until the next full garbage collection.

/** The owner of the requests without an answer. */
export interface SentRequestOwner {
  forget(id: number): void;
  /** Called if it has failed and its server may still work on it. */
  mayGoOn(id: number, cause: Cause): void;
  /** Called if it is given up. */
  cancel(id: number): void;
}

/** The caller that waits for the answer. */
export interface Waiter {
  readonly options: RequestOptions;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

const ONCE = { once: true } as const;

export class SentRequest implements Pending, AbortListener {
  /** Whether any byte of it may have reached the server. */
  written = false;
  readonly canRaiseQuestions: boolean;
  #waiter: Waiter | undefined;

  constructor(
    readonly id: number,
    readonly method: string,
    waiter: Waiter,
    private readonly owner: SentRequestOwner,
  ) {
    this.canRaiseQuestions = canRaiseQuestions(method);
    this.#waiter = waiter;
    waiter.options.signal?.addEventListener('abort', this, ONCE);
  }

  get origin(): RequestOrigin | undefined {
    return this.#waiter?.options.origin;
  }

  get onProgress(): ((progress: Progress) => void) | undefined {
    return this.#waiter?.options.onProgress;
  }

  answer(result: JsonObject): void {
    this.#finish()?.resolve(result);
  }

  /** Returns false if it was already answered or had failed. */
  fail(error: Error): boolean {
    const waiter = this.#finish();
    if (waiter === undefined) return false;
    if (this.written && this.canRaiseQuestions) this.owner.mayGoOn(this.id, waiter.options.origin);
    waiter.reject(error);
    return true;
  }

  /** Called when its signal aborts. An `initialize` is not cancelled (MCP specification, "Cancellation"). */
  handleEvent(): void {
    const error = toError(this.#waiter?.options.signal?.reason);
    if (this.fail(error) && this.method !== 'initialize') this.owner.cancel(this.id);
  }

  #finish(): Waiter | undefined {
    const waiter = this.#waiter;
    if (waiter === undefined) return undefined;
    this.#waiter = undefined;
    waiter.options.signal?.removeEventListener('abort', this);
    this.owner.forget(this.id);
    return waiter;
  }
}
