/**
 * The protocol port for the eras that open a session with `initialize`: up to 2025-11-25.
 *
 * Numbers our requests, matches the answers, cancels what is given up, and has the requests of the server answered
 * (`asked-requests.ts`). It starts and closes no transport, and keeps no clock: who asks has limits of his own.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { ServerIdentity } from '../../machines/connection.events.js';
import { cutText } from '../cut-text.js';
import { systemClock } from '../ports.js';
import { toError } from '../thrown.js';
import { TransportError, type RawFailure, type SessionTransport } from '../transports/session-transport.js';
import { AskedRequests, causedBy, GivenUpRequests } from './asked-requests.js';
import { toCancelled, toInbound, toProgress, type Inbound, type InboundRequest } from './inbound.js';
import { LATEST_PROTOCOL_VERSION, parseInitializeResult } from './initialize-result.js';
import {
  RequestLostError,
  type Asked,
  type Cause,
  type JsonObject,
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
  /** By id. */
  readonly #sent = new Map<number, SentRequest>();
  #nextId = 0;
  /** Undefined until there is one, as of most sessions: these two weigh half a KiB. */
  #givenUp: GivenUpRequests | undefined;
  #asked: AskedRequests | undefined;
  readonly #owner: SentRequestOwner = {
    forget: (id) => void this.#sent.delete(id),
    mayGoOn: (id, cause) => this.#giveUp(id, cause),
    cancel: (id) => this.#cancel(id),
  };
  /** Undefined before the exchange, and after it. */
  #transport: SessionTransport | undefined;

  constructor(private readonly options: ProtocolClientOptions) {}

  get pending(): number {
    return this.#sent.size;
  }

  async open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity> {
    this.#attach(transport);
    const { capabilities, clientInfo, meta } = this.options;
    const initialized = await this.request(
      'initialize',
      {
        protocolVersion: LATEST_PROTOCOL_VERSION,
        capabilities,
        clientInfo,
        ...(meta === undefined ? {} : { _meta: meta }),
      },
      { signal },
    );
    const identity = parseInitializeResult(initialized);
    transport.setProtocolVersion?.(identity.protocolVersion);
    await this.notify('notifications/initialized');
    return identity;
  }

  #attach(transport: SessionTransport): void {
    this.#transport = transport;
    const closed = transport.onclose;
    transport.onclose = () => {
      this.abandon(transport.ended ?? CLOSED_BY_US);
      closed?.();
    };
    transport.onmessage = (message, context) => {
      this.onwire?.('received', message);
      this.#hear(toInbound(message), context?.relatedRequestId);
    };
    transport.onerror = (error) => this.#tellUnlessEnded(transport, error.message);
    transport.onlost = (id, failure) =>
      void this.#sent.get(Number(id))?.fail(new RequestLostError(failure, true));
  }

  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const { signal, onProgress } = options;
      const transport = this.#transport;
      if (signal?.aborted === true) return reject(toError(signal.reason));
      if (transport === undefined) return reject(new RequestLostError(CLOSED_BY_US, false));
      const id = this.#nextId;
      this.#nextId += 1;
      const sent = new SentRequest(id, method, { options, resolve, reject }, this.#owner);
      this.#sent.set(id, sent);
      const told = onProgress === undefined ? params : withProgressToken(params, id);
      this.#send(transport, { method, params: told, jsonrpc: '2.0', id }).catch((error: unknown) => {
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

  #send(transport: SessionTransport, message: JSONRPCMessage): Promise<void> {
    this.onwire?.('sent', message);
    return transport.send(message);
  }

  /** Sends what nobody waits for. */
  async #post(transport: SessionTransport, message: JSONRPCMessage): Promise<void> {
    try {
      await this.#send(transport, message);
    } catch (error) {
      this.#tellUnlessEnded(transport, `A message could not be sent: ${toError(error).message}`);
    }
  }

  #cancel(requestId: number): void {
    if (this.#transport === undefined) return;
    const params = { requestId, reason: 'The caller no longer waits for the result.' };
    void this.#post(this.#transport, { jsonrpc: '2.0', method: 'notifications/cancelled', params });
  }

  #tellUnlessEnded(transport: SessionTransport, message: string): void {
    if (transport.ended === undefined && this.#transport === transport) this.onoddity?.(message);
  }

  #hear(came: Inbound, relatedTo: RequestId | undefined): void {
    switch (came.kind) {
      case 'odd':
        this.onoddity?.(came.what);
        break;
      case 'answer':
        this.#hearAnswer(came);
        break;
      case 'request':
        void this.#hearRequest(came, relatedTo);
        break;
      case 'notification':
        this.#hearNotification(came.method, came.params, relatedTo);
    }
  }

  /** A request that the server has taken back, or of a session that is over, is not answered. */
  async #hearRequest(request: InboundRequest, relatedTo: RequestId | undefined): Promise<void> {
    const transport = this.#transport;
    if (transport === undefined) return;
    this.#asked ??= new AskedRequests();
    const answer = await this.#asked.answer(request, this.#why(relatedTo), this.onrequest);
    if (answer !== undefined) await this.#post(transport, answer);
  }

  #giveUp(id: number, cause: Cause): void {
    this.#givenUp ??= new GivenUpRequests(this.options.clock ?? systemClock);
    this.#givenUp.add(id, cause);
  }

  /** A server may go on with what was given up, and ask in the course of that. */
  #why(relatedTo: RequestId | undefined): Omit<Asked, 'signal'> {
    if (relatedTo === undefined) return causedBy(this.#sent.values(), this.#givenUp?.causes ?? []);
    const related = this.#sent.get(Number(relatedTo));
    return { origin: related?.origin, causes: related === undefined ? [] : [related.origin] };
  }

  /** An answer that comes after its request was given up is nothing odd. */
  #hearAnswer({ id, result, error }: Extract<Inbound, { kind: 'answer' }>): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) {
      if (!(id < this.#nextId)) this.onoddity?.('An answer came to a request that was never sent.');
    } else if (result !== undefined) {
      sent.answer(result);
    } else {
      sent.fail(error ?? new RequestLostError(INVALID_ANSWER, true));
    }
    this.#givenUp?.answered(id);
  }

  #hearNotification(method: string, params: JsonObject, relatedTo: RequestId | undefined): void {
    try {
      if (method === 'notifications/progress') this.#hearProgress(params);
      else if (method === 'notifications/cancelled') this.#hearCancelled(params);
      else this.onnotification?.(method, params, this.#originOf(relatedTo));
    } catch (error) {
      this.onoddity?.(`${cutText(method, 100)} could not be dealt with: ${toError(error).message}`);
    }
  }

  /** Only what the transport says: what comes late would be taken for the next one's. */
  #originOf(relatedTo: RequestId | undefined): RequestOrigin | undefined {
    return relatedTo === undefined ? undefined : this.#sent.get(Number(relatedTo))?.origin;
  }

  /** The token is the id of the request. */
  #hearProgress(params: JsonObject): void {
    const told = toProgress(params);
    if (told === undefined) return this.onoddity?.('Progress was told that is not valid.');
    this.#sent.get(Number(told.token))?.onProgress?.(told.progress);
  }

  #hearCancelled(params: JsonObject): void {
    const cancelled = toCancelled(params);
    if (cancelled === undefined) return this.onoddity?.('A cancellation came that is not valid.');
    if (cancelled.requestId !== undefined) this.#asked?.cancel(cancelled.requestId, cancelled.reason);
  }
}

function withProgressToken(params: JsonObject, progressToken: number): JsonObject {
  const meta = params['_meta'] as JsonObject | undefined;
  return { ...params, _meta: meta === undefined ? { progressToken } : { ...meta, progressToken } };
}

/** `written` holds where the error does not say. */
function toLost(error: unknown, written: boolean): RequestLostError {
  if (error instanceof TransportError) return new RequestLostError(error.failure, error.written);
  return new RequestLostError({ code: 'connection-lost', message: toError(error).message }, written);
}

export function createSessionClient(options: ProtocolClientOptions): ProtocolClient {
  return new SessionClient(options);
}
