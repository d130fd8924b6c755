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
import type { RawFailure, SessionTransport } from '../transports/session-transport.js';

export type JsonObject = Record<string, unknown>;

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface ProtocolClient {
  /** Opens the exchange over a started transport. Rejects with a `ProtocolFailure`, `RpcError` or `RequestLostError`. */
  open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity>;
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Requests that have no answer yet. */
  readonly pending: number;
  /** Rejects every pending request as lost. The transport is left alone. */
  abandon(failure: RawFailure): void;
  onnotification?: ((method: string, params: JsonObject) => void) | undefined;
  /** Answers a request of the server. Unset, the server is told that the method is unknown. */
  onrequest?: ((method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  /** Something odd that ended nothing. */
  onoddity?: ((message: string) => void) | undefined;
}

export interface ProtocolClientOptions {
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities;
}

export type CreateProtocolClient = (options: ProtocolClientOptions) => ProtocolClient;

/** The server answered with a JSON-RPC error. */
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
