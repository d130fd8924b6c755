/**
 * The protocol port over the official SDK, version 1: eras up to 2025-11-25.
 *
 * Uses the SDK's protocol engine rather than its `Client`, so that the version check can name both versions, a
 * failed handshake is ours to report, and no schema compiler is built for every connection. The engine numbers our
 * requests, cancels them and answers those of the server; answers and notifications do not pass through it.
 */
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CancelledNotificationParamsSchema,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  LATEST_PROTOCOL_VERSION,
  ProgressNotificationParamsSchema,
  ResultSchema,
  type JSONRPCMessage,
  type JSONRPCResponse,
  type Notification,
  type Request,
  type RequestId,
  type Result,
} from '@modelcontextprotocol/sdk/types.js';
import type { ServerIdentity } from '../../machines/connection.events.js';
import { systemClock } from '../ports.js';
import { TransportError, type RawFailure, type SessionTransport } from '../transports/session-transport.js';
import {
  RequestLostError,
  RpcError,
  type Asked,
  type JsonObject,
  type ProtocolClient,
  type ProtocolClientOptions,
  type RequestOptions,
} from './protocol-client.js';
import { cutText } from '../cut-text.js';
import { AskedRequests, canRaiseQuestions, GivenUpRequests, onlyCause } from './asked-requests.js';
import { toInbound, type Inbound } from './inbound.js';
import { parseInitializeResult } from './initialize-result.js';
import { Tap, type Pending } from './tap.js';

/** The SDK times every request; ours are limited by whoever asks, so its own limit is the longest timer there is. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const CLOSED_BY_US: RawFailure = { code: 'connection-lost', message: 'The connection was closed.' };

const INVALID_ANSWER: RawFailure = {
  code: 'protocol-error',
  message: 'The server sent an answer that is not valid JSON-RPC.',
};

/** The SDK's engine without its opinions on capabilities: those are the runtime's. */
class Engine extends Protocol<Request, Notification, Result> {
  protected override assertCapabilityForMethod(): void {}
  protected override assertNotificationCapability(): void {}
  protected override assertRequestHandlerCapability(): void {}
  protected override assertTaskCapability(): void {}
  protected override assertTaskHandlerCapability(): void {}
}

class SdkV1Client implements ProtocolClient {
  onnotification?: (method: string, params: JsonObject) => void;
  onrequest?: (method: string, params: JsonObject, asked: Asked) => Promise<JsonObject>;
  onwire?: (direction: 'sent' | 'received', message: object) => void;
  onoddity?: (message: string) => void;
  readonly #engine = new Engine();
  readonly #pending = new Set<Pending>();
  /** Those among them that have an id. */
  readonly #sent = new Map<number, Pending>();
  #lastId = -1;
  readonly #givenUp: GivenUpRequests;
  readonly #asked = new AskedRequests();
  #tap: Tap | undefined;

  constructor(private readonly options: ProtocolClientOptions) {
    this.#givenUp = new GivenUpRequests(options.clock ?? systemClock);
  }

  get pending(): number {
    return this.#pending.size;
  }

  async open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity> {
    await this.#attach(transport);
    const initialized = await this.request(
      'initialize',
      {
        protocolVersion: LATEST_PROTOCOL_VERSION,
        capabilities: this.options.capabilities,
        clientInfo: this.options.clientInfo,
      },
      { signal },
    );
    const result = parseInitializeResult(initialized);
    this.#tap?.setProtocolVersion(result.protocolVersion);
    await this.notify('notifications/initialized');
    return {
      info: result.serverInfo,
      capabilities: result.capabilities,
      protocolVersion: result.protocolVersion,
      instructions: result.instructions ?? null,
    };
  }

  async #attach(transport: SessionTransport): Promise<void> {
    const tap = new Tap(transport);
    this.#tap = tap;
    const closed = transport.onclose;
    transport.onclose = () => {
      this.abandon(transport.ended ?? CLOSED_BY_US);
      closed?.();
    };
    tap.onwire = (message) => this.onwire?.('sent', message);
    transport.onmessage = (message, context) => {
      this.onwire?.('received', message);
      this.#hear(tap, toInbound(message), context?.relatedRequestId);
    };
    transport.onerror = (error) => tap.onerror?.(error);
    transport.onlost = (id, failure) => this.#lose(id, failure);
    this.#engine.onerror = (error) => {
      if (transport.ended === undefined) this.onoddity?.(error.message);
    };
    if (this.onrequest !== undefined) {
      this.#engine.fallbackRequestHandler = (request, extra) =>
        this.#asked.answer(request, extra, this.onrequest);
    }
    await this.#engine.connect(tap);
  }

  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const { signal, onProgress, origin } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(toError(signal.reason));
        return;
      }
      const cancelling = new AbortController();
      const finish = (): boolean => {
        signal?.removeEventListener('abort', onAbort);
        if (this.#sent.delete(id)) this.#tap?.forget(id);
        return this.#pending.delete(pending);
      };
      let id = -1;
      const pending: Pending = {
        written: false,
        canRaiseQuestions: canRaiseQuestions(method),
        origin,
        onProgress,
        onid: (given) => {
          id = Number(given);
          this.#lastId = id;
          this.#sent.set(id, pending);
        },
        answer: (result) => {
          if (finish()) resolve(result);
        },
        fail: (error) => {
          if (!finish()) return;
          if (pending.written && pending.canRaiseQuestions) this.#givenUp.add(id);
          reject(error);
        },
      };
      const onAbort = (): void => {
        pending.fail(toError(signal?.reason));
        if (method !== 'initialize') cancelling.abort('The caller no longer waits for the result.');
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.add(pending);
      this.#send(pending, { method, params }, cancelling.signal).then(
        () => {},
        (error: unknown) => pending.fail(toRequestError(error, pending.written)),
      );
    });
  }

  #send(pending: Pending, request: Request, signal: AbortSignal): Promise<JsonObject> {
    const tap = this.#tap;
    if (tap === undefined) return Promise.reject(new RequestLostError(CLOSED_BY_US, false));
    tap.sending = pending;
    try {
      return this.#engine.request(request, ResultSchema, {
        signal,
        timeout: NO_TIMEOUT_MS,
        ...(pending.onProgress === undefined ? {} : { onprogress: () => {} }),
      });
    } finally {
      tap.sending = undefined;
    }
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    try {
      await this.#engine.notification(params === undefined ? { method } : { method, params });
    } catch (error) {
      throw toRequestError(error, false);
    }
  }

  abandon(failure: RawFailure): void {
    for (const pending of this.#pending) pending.fail(new RequestLostError(failure, pending.written));
    void this.#tap?.close();
  }

  /** The engine hears little: it would keep, and repeat in its errors, whatever a server sends. */
  #hear(tap: Tap, came: Inbound, relatedTo: RequestId | undefined): void {
    switch (came.kind) {
      case 'odd':
        this.onoddity?.(came.what);
        break;
      case 'answer':
        this.#hearAnswer(came.id, came.message);
        break;
      case 'request':
        this.#hearRequest(tap, came.message, relatedTo);
        break;
      case 'notification':
        this.#hearNotification(tap, came.method, came.params);
    }
  }

  #hearRequest(tap: Tap, message: JSONRPCMessage, relatedTo: RequestId | undefined): void {
    const related = relatedTo === undefined ? this.#onlyCause() : this.#sent.get(Number(relatedTo));
    this.#asked.heard(message, related);
    tap.onmessage?.(message);
  }

  /** A server may go on with what was given up, and ask in the course of that. */
  #onlyCause(): Pending | undefined {
    return this.#givenUp.hasAny ? undefined : onlyCause(this.#pending);
  }

  /** An answer that comes after its request was given up is nothing odd. */
  #hearAnswer(id: number, message: JSONRPCResponse): void {
    const pending = this.#sent.get(id);
    if (pending === undefined) {
      if (!(id <= this.#lastId)) this.onoddity?.('An answer came to a request that was never sent.');
    } else if (isJSONRPCResultResponse(message)) {
      pending.answer(message.result);
    } else if (isJSONRPCErrorResponse(message)) {
      const { code, message: said, data } = message.error;
      pending.fail(new RpcError(code, said, data));
    } else {
      pending.fail(new RequestLostError(INVALID_ANSWER, true));
    }
    this.#givenUp.answered(id);
  }

  #hearNotification(tap: Tap, method: string, params: JsonObject): void {
    try {
      if (method === 'notifications/progress') this.#hearProgress(params);
      else if (method === 'notifications/cancelled') this.#hearCancelled(tap, params);
      else this.onnotification?.(method, params);
    } catch (error) {
      this.onoddity?.(`${cutText(method, 100)} could not be dealt with: ${toError(error).message}`);
    }
  }

  /** The engine chooses the token, which is the request's id. */
  #hearProgress(params: JsonObject): void {
    const parsed = ProgressNotificationParamsSchema.safeParse(params);
    if (!parsed.success) return this.onoddity?.('Progress was told that is not valid.');
    const { progressToken, progress, total, message } = parsed.data;
    this.#sent.get(Number(progressToken))?.onProgress?.({ progress, total, message });
  }

  /** The engine then sends no answer. It does not see the cancellation of request 0, the first of many servers. */
  #hearCancelled(tap: Tap, params: JsonObject): void {
    const parsed = CancelledNotificationParamsSchema.safeParse(params);
    if (!parsed.success) return this.onoddity?.('A cancellation came that is not valid.');
    const { requestId, reason } = parsed.data;
    if (requestId !== undefined) this.#asked.cancel(requestId, reason);
    tap.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: parsed.data });
  }

  #lose(id: RequestId, failure: RawFailure): void {
    this.#sent.get(Number(id))?.fail(new RequestLostError(failure, true));
  }
}

function toRequestError(error: unknown, written: boolean): Error {
  if (error instanceof RequestLostError) return error;
  if (error instanceof TransportError) return new RequestLostError(error.failure, error.written);
  return new RequestLostError({ code: 'connection-lost', message: toError(error).message }, written);
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

export function createSdkV1Client(options: ProtocolClientOptions): ProtocolClient {
  return new SdkV1Client(options);
}
