/**
 * The protocol client for protocol versions that open a session with `initialize`: up to 2025-11-25.
 *
 * Numbers our requests, matches the answers, cancels requests that are given up, and has the requests of the server
 * answered (`inbound-requests.ts`). It does not start or close a transport and sets no timers: callers have their own
 * limits.
 */
import type { JSONRPCMessage, RequestId } from '../mcp/messages.js';
import type { ServerIdentity } from '../../machines/connection/connection.events.js';
import { cutText } from '../text/cut-text.js';
import { systemClock } from '../ports.js';
import { toError } from '../text/error-message.js';
import type { SendOptions, SessionTransport } from '../transports/session-transport.js';
import { TransportError, type RawFailure } from '../failures/transport-error.js';
import { resultWithoutNulls } from './absent-nulls.js';
import { InboundRequests, originOf, AbandonedRequests } from './inbound-requests.js';
import { toCancelled, toInbound, toProgress, type Inbound, type InboundRequest } from './inbound-message.js';
import { LATEST_PROTOCOL_VERSION, parseInitializeResult, versionRefusal } from './initialize-result.js';
import type { JsonObject } from '../json/json-object.js';
import {
  RequestLostError,
  RpcError,
  type Asked,
  type Cause,
  type ProtocolClient,
  type ProtocolClientOptions,
  type RequestOptions,
  type RequestOrigin,
} from './protocol-client.js';
import { SentRequest, type SentRequestOwner } from './sent-request.js';

const CLOSED_BY_US: RawFailure = { code: 'connection-lost', message: 'The connection was closed.' };

const INVALID_ANSWER: RawFailure = {
  code: 'protocol-error',
  message: 'The server sent an answer that is not valid JSON-RPC.',
};

class SessionClient implements ProtocolClient {
  onnotification?: (method: string, params: JsonObject, origin: RequestOrigin | undefined) => void;
  onrequest?: (method: string, params: JsonObject, asked: Asked) => Promise<JsonObject>;
  onwire?: (direction: 'sent' | 'received', message: object) => void;
  onoddity?: (message: string) => void;
  /** Requests without an answer, by id. */
  readonly #sent = new Map<number, SentRequest>();
  #nextId = 0;
  /** Undefined until it is needed, which is never in most sessions: these two take half a KiB. */
  #givenUp: AbandonedRequests | undefined;
  #asked: InboundRequests | undefined;
  readonly #owner: SentRequestOwner = {
    forget: (id) => void this.#sent.delete(id),
    mayGoOn: (id, cause) => this.#giveUp(id, cause),
    cancel: (id) => this.#cancel(id),
  };
  /** Undefined before `open` and after the end. */
  #transport: SessionTransport | undefined;

  constructor(private readonly options: ProtocolClientOptions) {}

  get pending(): number {
    return this.#sent.size;
  }

  get lastRequestId(): number | undefined {
    return this.#nextId === 0 ? undefined : this.#nextId - 1;
  }

  async open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity> {
    this.#attach(transport);
    const { capabilities, clientInfo, meta } = this.options;
    const asked = this.request(
      'initialize',
      {
        protocolVersion: LATEST_PROTOCOL_VERSION,
        capabilities,
        clientInfo,
        ...(meta === undefined ? {} : { _meta: meta }),
      },
      { signal },
    );
    const initialized = await asked.catch((error: unknown) => {
      throw (error instanceof RpcError ? versionRefusal(error) : undefined) ?? error;
    });
    const identity = parseInitializeResult(initialized);
    transport.setProtocolVersion?.(identity.protocolVersion);
    await this.notify('notifications/initialized');
    return identity;
  }

  #attach(transport: SessionTransport): void {
    this.#transport = transport;
    transport.onmessage = (message, context) => {
      this.onwire?.('received', message);
      this.#receive(toInbound(message), context?.relatedRequestId);
    };
    transport.onerror = (error) => this.#reportUnlessEnded(transport, error.message);
    transport.onlost = (id, failure) =>
      void this.#sent.get(Number(id))?.fail(new RequestLostError(failure, true));
  }

  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const { signal, onProgress, headers } = options;
      const transport = this.#transport;
      if (signal?.aborted === true) return reject(toError(signal.reason));
      if (transport === undefined) return reject(new RequestLostError(CLOSED_BY_US, false));
      const id = this.#nextId;
      this.#nextId += 1;
      const sent = new SentRequest(id, method, { options, resolve, reject }, this.#owner);
      this.#sent.set(id, sent);
      const sentParams = onProgress === undefined ? params : withProgressToken(params, id);
      const message: JSONRPCMessage = { method, params: sentParams, jsonrpc: '2.0', id };
      this.#send(transport, message, headers && { headers }).catch((error: unknown) => {
        const lost = toLost(error, true);
        sent.written = lost.written;
        sent.fail(lost);
      });
      sent.written = true;
    });
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    const transport = this.#transport;
    if (transport === undefined) throw new RequestLostError(CLOSED_BY_US, false);
    try {
      await this.#send(transport, { method, ...(params === undefined ? {} : { params }), jsonrpc: '2.0' });
    } catch (error) {
      throw toLost(error, false);
    }
  }

  abandon(failure: RawFailure): void {
    this.#transport = undefined;
    for (const sent of this.#sent.values()) sent.fail(new RequestLostError(failure, sent.written));
    this.#asked?.end();
  }

  #send(transport: SessionTransport, message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    this.onwire?.('sent', message);
    return transport.send(message, options);
  }

  /** Sends a message without an answer. */
  async #post(transport: SessionTransport, message: JSONRPCMessage): Promise<void> {
    try {
      await this.#send(transport, message);
    } catch (error) {
      this.#reportUnlessEnded(transport, `A message could not be sent: ${toError(error).message}`);
    }
  }

  #cancel(requestId: number): void {
    if (this.#transport === undefined) return;
    const params = { requestId, reason: 'The caller no longer waits for the result.' };
    void this.#post(this.#transport, { jsonrpc: '2.0', method: 'notifications/cancelled', params });
  }

  #reportUnlessEnded(transport: SessionTransport, message: string): void {
    if (transport.ended === undefined && this.#transport === transport) this.onoddity?.(message);
  }

  #receive(came: Inbound, relatedTo: RequestId | undefined): void {
    switch (came.kind) {
      case 'odd':
        this.onoddity?.(came.what);
        break;
      case 'answer':
        this.#receiveAnswer(came);
        break;
      case 'request':
        void this.#receiveRequest(came, relatedTo);
        break;
      case 'notification':
        this.#receiveNotification(came.method, came.params, relatedTo);
    }
  }

  /** Answers a request, unless the server cancelled it or the session has ended. */
  async #receiveRequest(request: InboundRequest, relatedTo: RequestId | undefined): Promise<void> {
    const transport = this.#transport;
    if (transport === undefined) return;
    this.#asked ??= new InboundRequests();
    const answer = await this.#asked.answer(request, this.#why(relatedTo), this.onrequest);
    if (answer !== undefined) await this.#post(transport, answer);
  }

  #giveUp(id: number, cause: Cause): void {
    this.#givenUp ??= new AbandonedRequests(this.options.clock ?? systemClock);
    this.#givenUp.add(id, cause);
  }

  /** A server may still work on requests that were given up, and send requests because of them. */
  #why(relatedTo: RequestId | undefined): Omit<Asked, 'signal'> {
    if (relatedTo === undefined) return originOf(this.#sent.values(), this.#givenUp?.causes ?? []);
    const related = this.#sent.get(Number(relatedTo));
    return { origin: related?.origin, causes: related === undefined ? [] : [related.origin] };
  }

  /** A late answer to a request that was given up is not odd. */
  #receiveAnswer({ id, result, error }: Extract<Inbound, { kind: 'answer' }>): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) {
      if (!(id < this.#nextId)) this.onoddity?.('The server answered a request that was never sent.');
    } else if (result !== undefined) {
      sent.answer(resultWithoutNulls(sent.method, result));
    } else {
      sent.fail(error?.answering(sent.method) ?? new RequestLostError(INVALID_ANSWER, true));
    }
    this.#givenUp?.answered(id);
  }

  #receiveNotification(method: string, params: JsonObject, relatedTo: RequestId | undefined): void {
    try {
      if (method === 'notifications/progress') this.#receiveProgress(params);
      else if (method === 'notifications/cancelled') this.#receiveCancelled(params);
      else this.onnotification?.(method, params, this.#originOf(relatedTo));
    } catch (error) {
      this.onoddity?.(`${cutText(method, 100)} could not be processed: ${toError(error).message}`);
    }
  }

  /** Uses only what the transport says: a late notification would be attributed to the next request. */
  #originOf(relatedTo: RequestId | undefined): RequestOrigin | undefined {
    return relatedTo === undefined ? undefined : this.#sent.get(Number(relatedTo))?.origin;
  }

  /** The token is the id of the request. */
  #receiveProgress(params: JsonObject): void {
    const update = toProgress(params);
    if (update === undefined) return this.onoddity?.('The server sent progress that is not valid.');
    this.#reportFlaws('Progress', update.flaws);
    this.#sent.get(Number(update.token))?.onProgress?.(update.progress);
  }

  #receiveCancelled(params: JsonObject): void {
    const cancelled = toCancelled(params);
    if (cancelled === undefined) return this.onoddity?.('The server sent a cancellation that is not valid.');
    this.#reportFlaws('A cancellation', cancelled.flaws);
    if (cancelled.requestId !== undefined) this.#asked?.cancel(cancelled.requestId, cancelled.reason);
  }

  #reportFlaws(what: string, flaws: readonly string[]): void {
    for (const field of flaws)
      this.onoddity?.(`${what} is kept without its ${field}: it has the wrong type.`);
  }
}

function withProgressToken(params: JsonObject, progressToken: number): JsonObject {
  const meta = params['_meta'] as JsonObject | undefined;
  return { ...params, _meta: meta === undefined ? { progressToken } : { ...meta, progressToken } };
}

/** `written` applies if the error does not say. */
function toLost(error: unknown, written: boolean): RequestLostError {
  if (error instanceof TransportError) return new RequestLostError(error.failure, error.written);
  return new RequestLostError({ code: 'connection-lost', message: toError(error).message }, written);
}

export function createSessionClient(options: ProtocolClientOptions): ProtocolClient {
  return new SessionClient(options);
}
