/**
 * The port between the runtime and whatever speaks MCP over a transport.
 *
 * A client serves one session. It correlates requests and answers, and knows one protocol era; pagination, limits,
 * output validation and the meaning of an outcome belong to the runtime.
 *
 * P1. Every request settles exactly once: answered, `RpcError`, `RequestLostError`, or with the reason of its signal.
 * P2. When the transport closes, every pending request is rejected before the transport's own `onclose` listeners run
 *     on, so that nobody hears of the loss before the calls are settled.
 * P3. An aborted request is cancelled at the server exactly once; an answer that comes later is dropped.
 */
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/sdk/types.js';
import type { ServerIdentity } from '../../machines/connection.events.js';
import type { Clock } from '../ports.js';
import type { RawFailure, SessionTransport } from '../transports/session-transport.js';

export type JsonObject = Record<string, unknown>;

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** What of ours a request was sent for. */
export interface RequestOrigin {
  /** Of the request: `tools/call`, for instance. */
  readonly method: string;
  /** The server's own name of the tool or the prompt, or the URI of the resource. */
  readonly name: string;
  /** Number of the sending, as the events of the call tell it. */
  readonly call?: number;
  /** What the caller gave as `context`. */
  readonly context: unknown;
}

export interface GiveUpListener {
  handleEvent(): void;
}

/** Says when nobody waits for an answer any more: an `AbortSignal`, or what costs less than one for every call. */
export interface GiveUpSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: GiveUpListener, options: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: GiveUpListener): void;
}

export interface RequestOptions {
  readonly signal?: GiveUpSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Told to whoever answers what the server asks in the course of it. */
  readonly origin?: RequestOrigin;
}

/** What is known of a request of the server beside its content. */
export interface Asked {
  /** Aborts when the server takes it back, and at the end of the session. */
  readonly signal: AbortSignal;
  /** Of our request that made the server ask; undefined where nobody can tell. */
  readonly origin: RequestOrigin | undefined;
  /**
   * Of each request of ours that may have made it ask: those in work, first, and those given up that it may be at still.
   * Empty where none is in work.
   */
  readonly causes: readonly Cause[];
}

/** Where a request of ours came from; undefined where its sender did not say. */
export type Cause = RequestOrigin | undefined;

export interface ProtocolClient {
  /** Opens the exchange over a started transport. Rejects with a `ProtocolFailure`, `RpcError` or `RequestLostError`. */
  open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity>;
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Requests that have no answer yet. */
  readonly pending: number;
  /** Rejects every pending request as lost. The transport is left alone. */
  abandon(failure: RawFailure): void;
  /** `origin` is of our request in whose course it came, where its transport says so. */
  onnotification?:
    ((method: string, params: JsonObject, origin: RequestOrigin | undefined) => void) | undefined;
  /**
   * Answers a request of the server; an `RpcError` is an answer too. Set before `open`. Unset, the server is told that
   * the method is unknown. A ping is answered without it.
   */
  onrequest?: ((method: string, params: JsonObject, asked: Asked) => Promise<JsonObject>) | undefined;
  /** Hears every message before it is sent, and when it came. Must not throw. Set before `open`. */
  onwire?: ((direction: 'sent' | 'received', message: object) => void) | undefined;
  /** Something odd that ended nothing. */
  onoddity?: ((message: string) => void) | undefined;
}

export interface ProtocolClientOptions {
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities;
  /** The `_meta` of the handshake. Default: none. */
  readonly meta?: JsonObject | undefined;
  /** Default: that of the system. */
  readonly clock?: Pick<Clock, 'now'>;
}

export type CreateProtocolClient = (options: ProtocolClientOptions) => ProtocolClient;

/** A JSON-RPC error: of the server, or for it. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    readonly rpcCode: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
  }
}

/** The session ended, or could not carry the request, before an answer came. */
export class RequestLostError extends Error {
  override readonly name = 'RequestLostError';

  constructor(
    readonly failure: RawFailure,
    /** Whether any byte of the request may have reached the server. */
    readonly written: boolean,
  ) {
    super(failure.message);
  }
}

/** The server answered, but not as the protocol asks. */
export class ProtocolFailure extends Error {
  override readonly name = 'ProtocolFailure';

  constructor(readonly failure: RawFailure) {
    super(failure.message);
  }
}

/** JSON-RPC 2.0 section 5.1. */
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
