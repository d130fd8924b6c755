/**
 * The protocol port over the official SDK, version 1: eras up to 2025-11-25.
 *
 * Uses the SDK's protocol engine rather than its `Client`, so that the version check can name both versions, a
 * failed handshake is ours to report, and no schema compiler is built for every connection.
 */
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  InitializeResultSchema,
  LATEST_PROTOCOL_VERSION,
  McpError,
  ProgressNotificationParamsSchema,
  ResultSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  type InitializeResult,
  type JSONRPCMessage,
  type MessageExtraInfo,
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
  type Progress,
  type ProtocolClient,
  type ProtocolClientOptions,
  type RequestOptions,
} from './protocol-client.js';

/** The SDK times every request; ours are limited by whoever asks, so its own limit is the longest timer there is. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const CLOSED_BY_US: RawFailure = { code: 'connection-lost', message: 'The connection was closed.' };

/** The SDK's engine without its opinions on capabilities: those are the runtime's. */
class Engine extends Protocol<Request, Notification, Result> {
  protected override assertCapabilityForMethod(): void {}
  protected override assertNotificationCapability(): void {}
  protected override assertRequestHandlerCapability(): void {}
  protected override assertTaskCapability(): void {}
  protected override assertTaskHandlerCapability(): void {}
}

interface Pending {
  id: RequestId | undefined;
  written: boolean;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly fail: (error: Error) => void;
}

/**
 * Stands between the engine and the transport: sees which request is written, and is closed and started by the
 * runtime instead of by the engine.
 */
class Tap implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  /** Set around the engine's synchronous send of a request, to learn its id. */
  sending: Pending | undefined;

  constructor(private readonly inner: SessionTransport) {}

  start(): Promise<void> {
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const pending = this.sending;
    if (pending !== undefined && 'id' in message) pending.id = message.id;
    try {
      const sent = this.inner.send(message, options);
      if (pending !== undefined) pending.written = true;
      await sent;
    } catch (error) {
      if (pending !== undefined && error instanceof TransportError) {
        pending.written = error.written;
        pending.fail(new RequestLostError(error.failure, error.written));
      }
      throw error;
    }
  }

  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }
}

class SdkV1Client implements ProtocolClient {
  onnotification?: (method: string, params: JsonObject) => void;
  onrequest?: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  onoddity?: (message: string) => void;
  readonly #engine = new Engine();
  readonly #pending = new Set<Pending>();
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
      tap.onclose?.();
      closed?.();
    };
    transport.onmessage = (message, extra) => {
      if (!this.#tellProgress(message)) tap.onmessage?.(message, extra);
    };
    transport.onerror = (error) => tap.onerror?.(error);
    transport.onlost = (id, failure) => this.#lose(id, failure);
    this.#engine.onerror = (error) => this.onoddity?.(error.message);
    this.#engine.fallbackNotificationHandler = (notification) => {
      this.onnotification?.(notification.method, notification.params ?? {});
      return Promise.resolve();
    };
    if (this.onrequest !== undefined) {
      const answer = this.onrequest;
      this.#engine.fallbackRequestHandler = (request, extra) =>
        answer(request.method, request.params ?? {}, extra.signal);
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
        return this.#pending.delete(pending);
      };
      const pending: Pending = {
        id: undefined,
        written: false,
        onProgress,
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
    for (const pending of this.#pending) {
      if (pending.id === progressToken) pending.onProgress?.({ progress, total, message: text });
    }
    return true;
  }

  #lose(id: RequestId, failure: RawFailure): void {
    for (const pending of this.#pending) {
      if (pending.id === id) pending.fail(new RequestLostError(failure, true));
    }
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
      message: `The server speaks protocol version ${parsed.data.protocolVersion}; this client offered ${LATEST_PROTOCOL_VERSION} and knows ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
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
