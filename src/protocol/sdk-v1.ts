/**
 * The protocol port over the official SDK, version 1: eras up to 2025-11-25.
 *
 * Uses the SDK's protocol engine rather than its `Client`, so that the version check can name both versions, a
 * failed handshake is ours to report, and no schema compiler is built for every connection.
 */
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CancelledNotificationParamsSchema,
  InitializeResultSchema,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  LATEST_PROTOCOL_VERSION,
  McpError,
  ProgressNotificationParamsSchema,
  ResultSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  type InitializeResult,
  type JSONRPCMessage,
  type JSONRPCResponse,
  type Notification,
  type Request,
  type RequestId,
  type Result,
} from '@modelcontextprotocol/sdk/types.js';
import type { ServerIdentity } from '../../machines/connection.events.js';
import { TransportError, type RawFailure, type SessionTransport } from '../transports/session-transport.js';
import {
  ProtocolFailure,
  RequestLostError,
  RpcError,
  type JsonObject,
  type ProtocolClient,
  type ProtocolClientOptions,
  type RequestOptions,
} from './protocol-client.js';
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

/** What the engine tells of a request of the server. */
interface Asked {
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
}

class SdkV1Client implements ProtocolClient {
  onnotification?: (method: string, params: JsonObject) => void;
  onrequest?: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  onoddity?: (message: string) => void;
  readonly #engine = new Engine();
  readonly #pending = new Set<Pending>();
  /** Those among them that have an id. */
  readonly #sent = new Map<number, Pending>();
  #lastId = -1;
  /** Requests of the server that are being answered. */
  readonly #asked = new Map<RequestId, AbortController>();
  #tap: Tap | undefined;

  constructor(private readonly options: ProtocolClientOptions) {}

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
    transport.onmessage = (message, extra) => {
      if (this.#isForEngine(message)) tap.onmessage?.(message, extra);
    };
    transport.onerror = (error) => tap.onerror?.(error);
    transport.onlost = (id, failure) => this.#lose(id, failure);
    this.#engine.onerror = (error) => this.onoddity?.(error.message);
    this.#engine.fallbackNotificationHandler = (notification) => {
      this.onnotification?.(notification.method, notification.params ?? {});
      return Promise.resolve();
    };
    if (this.onrequest !== undefined) {
      this.#engine.fallbackRequestHandler = (request, extra) => this.#answer(request, extra);
    }
    await this.#engine.connect(tap);
  }

  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const { signal, onProgress } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(toError(signal.reason));
        return;
      }
      const cancelling = new AbortController();
      const finish = (): boolean => {
        signal?.removeEventListener('abort', onAbort);
        this.#sent.delete(id);
        return this.#pending.delete(pending);
      };
      let id = -1;
      const pending: Pending = {
        written: false,
        onProgress,
        onid: (given) => {
          id = Number(given);
          this.#lastId = id;
          this.#sent.set(id, pending);
        },
        fail: (error) => {
          if (finish()) reject(error);
        },
      };
      const onAbort = (): void => {
        pending.fail(toError(signal?.reason));
        if (method !== 'initialize') cancelling.abort('The caller no longer waits for the result.');
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.add(pending);
      this.#send(pending, { method, params }, cancelling.signal).then(
        (result) => {
          if (finish()) resolve(result);
        },
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

  /**
   * Progress is told at once. The engine would tell it a microtask later, and never where the answer came in the same
   * chunk; it only chooses the token, which is the request's id.
   */
  #tellProgress(message: JSONRPCMessage): boolean {
    if (!('method' in message) || message.method !== 'notifications/progress') return false;
    const parsed = ProgressNotificationParamsSchema.safeParse(message.params);
    if (!parsed.success) return false;
    const { progressToken, progress, total, message: text } = parsed.data;
    this.#sent.get(Number(progressToken))?.onProgress?.({ progress, total, message: text });
    return true;
  }

  /** The engine gets what it can deal with. What is odd ends here: the engine would repeat the whole of it in an error. */
  #isForEngine(message: JSONRPCMessage): boolean {
    if (typeof message !== 'object' || message === null) {
      this.onoddity?.('Something came that is no message.');
      return false;
    }
    if (!('method' in message)) return this.#isAnswer(message);
    this.#hearCancelled(message);
    return !this.#tellProgress(message);
  }

  /** Whether a request waits for it. An answer that comes after its request was given up is nothing odd. */
  #isAnswer(message: JSONRPCResponse): boolean {
    const id = typeof message.id === 'string' || typeof message.id === 'number' ? Number(message.id) : NaN;
    const pending = this.#sent.get(id);
    if (pending === undefined) {
      if (!(id <= this.#lastId)) this.onoddity?.('An answer came to a request that was never sent.');
      return false;
    }
    const isValid = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    if (!isValid) pending.fail(new RequestLostError(INVALID_ANSWER, true));
    return isValid;
  }

  /** The engine does not see a cancellation of request 0, the first of every server that counts from there. */
  #hearCancelled(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    const parsed = CancelledNotificationParamsSchema.safeParse(message.params);
    if (parsed.data?.requestId !== undefined)
      this.#asked.get(parsed.data.requestId)?.abort(parsed.data.reason);
  }

  async #answer(request: Request, { requestId, signal }: Asked): Promise<JsonObject> {
    const cancelling = new AbortController();
    signal.addEventListener('abort', () => cancelling.abort(signal.reason), { once: true });
    this.#asked.set(requestId, cancelling);
    try {
      return (await this.onrequest?.(request.method, request.params ?? {}, cancelling.signal)) ?? {};
    } finally {
      this.#asked.delete(requestId);
    }
  }

  #lose(id: RequestId, failure: RawFailure): void {
    this.#sent.get(Number(id))?.fail(new RequestLostError(failure, true));
  }
}

function parseInitializeResult(value: JsonObject): InitializeResult {
  const parsed = InitializeResultSchema.safeParse(value);
  if (!parsed.success) {
    throw new ProtocolFailure({
      code: 'protocol-error',
      message: `The answer to initialize is not valid: ${parsed.error.issues[0]?.path.join('.') ?? 'it'} is wrong.`,
    });
  }
  if (!SUPPORTED_PROTOCOL_VERSIONS.includes(parsed.data.protocolVersion)) {
    throw new ProtocolFailure({
      code: 'protocol-version',
      message: `The server speaks protocol version ${parsed.data.protocolVersion.slice(0, 40)}; this client offered ${LATEST_PROTOCOL_VERSION} and knows ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
      hint: 'Use a version of the server that speaks one of these.',
    });
  }
  return parsed.data;
}

function toRequestError(error: unknown, written: boolean): Error {
  if (error instanceof RequestLostError) return error;
  if (error instanceof TransportError) return new RequestLostError(error.failure, error.written);
  if (error instanceof McpError) {
    const prefix = `MCP error ${error.code}: `;
    const message = error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
    return new RpcError(error.code, message, error.data);
  }
  return new RequestLostError({ code: 'connection-lost', message: toError(error).message }, written);
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

export function createSdkV1Client(options: ProtocolClientOptions): ProtocolClient {
  return new SdkV1Client(options);
}
