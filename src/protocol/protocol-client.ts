/**
 * `src/protocol` speaks MCP over a transport. This file is its port to the runtime.
 *
 * A client serves one session and one protocol era. It correlates requests and answers; pagination, limits, output
 * validation and the meaning of an outcome belong to the runtime.
 *
 * P1. Every request settles exactly once: answered, `RpcError`, `RequestLostError`, or with the reason of its signal.
 * P2. It does not listen for the end of the transport. The owner of the transport calls `abandon` then, before the loss
 *     is reported.
 * P3. An aborted request is cancelled at the server exactly once; an answer that comes later is dropped.
 */
import type { ClientCapabilities, Implementation } from '../mcp/session.js';
import type { ServerIdentity, ServerList } from '../../machines/connection/connection.events.js';
import type { Clock } from '../ports.js';
import type { MessageHeaders, SessionTransport } from '../transports/session-transport.js';
import type { RawFailure } from '../failures/transport-error.js';
import type { JsonObject } from '../json/json-object.js';
import type { AbortSignalLike } from '../async/abort.js';
import type { Era } from '../../machines/policy/protocol-era.js';
import type { Task, TaskWatcher } from './tasks.js';

/** A progress report of a server. */
export interface Progress {
  /** How much is done, in units of the server. Grows from report to report. */
  readonly progress: number;
  /** How much there is to do, in the same units; undefined if unknown. */
  readonly total?: number | undefined;
  /** Text for people; undefined if the server gives none. */
  readonly message?: string | undefined;
}

/** The request of ours that caused a request of the server. */
export interface RequestOrigin {
  /** Method of our request, such as `tools/call`. */
  readonly method: string;
  /** The server's own name of the tool or the prompt, or the URI of the resource. */
  readonly name: string;
  /** Number of the attempt, as in the events of the call. */
  readonly call?: number;
  /** The caller's `context`. */
  readonly context: unknown;
}

export interface RequestOptions {
  readonly signal?: AbortSignalLike;
  readonly onProgress?: (progress: Progress) => void;
  /** Passed to the handler of a request that the server sends because of it. */
  readonly origin?: RequestOrigin;
  /** Headers for its HTTP request, if it has one. */
  readonly headers?: MessageHeaders | undefined;
  /**
   * Only in the new era: what this round of the request adds to its params. The questions of the server are the answer then,
   * and the caller makes the next round. Default: the client makes all rounds.
   */
  readonly round?: JsonObject | undefined;
  /** Only in the new era: learns of the task if the server runs the request as one. */
  readonly watcher?: TaskWatcher | undefined;
}

/** What is known of a request of the server, besides its content. */
export interface Asked {
  /** Aborts when the server cancels it, and at the end of the session. */
  readonly signal: AbortSignal;
  /** The origin of our request that made the server ask; undefined if that is not certain. */
  readonly origin: RequestOrigin | undefined;
  /**
   * The cause of each request of ours that may have made it ask: pending requests first, then those that were given up.
   * Empty if no request is pending.
   */
  readonly causes: readonly Cause[];
}

/** The origin of a request of ours; undefined if its sender gave none. */
export type Cause = RequestOrigin | undefined;

export interface ProtocolClient {
  /** Opens the exchange over a started transport. Rejects with a `ProtocolFailure`, `RpcError` or `RequestLostError`. */
  open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity>;
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Only if the server runs tasks: goes on with one that began over this connection or an earlier one. Settles as its request does. */
  readonly follow?: ((task: Task, options?: RequestOptions) => Promise<JsonObject>) | undefined;
  /** Only in the new era: asks the server to report changes. */
  readonly listen?: Listen | undefined;
  /** Number of requests without an answer. */
  readonly pending: number;
  /** JSON-RPC id of the request that was sent last; undefined before the first. */
  readonly lastRequestId: number | undefined;
  /** Rejects every pending request as lost. Does not close the transport. */
  abandon(failure: RawFailure): void;
  /** Set before `open`. */
  owner?: ClientOwner | undefined;
  /** Called with each message before it is sent, and when it is received. Must not throw. Set before `open`. */
  onwire?: ((direction: 'sent' | 'received', message: object) => void) | undefined;
}

/** What a client reports to. */
export interface ClientOwner {
  /** `origin` belongs to the request of ours that caused it, if the transport says so. */
  onnotification?(method: string, params: JsonObject, origin: RequestOrigin | undefined): void;
  /**
   * Answers a request of the server; it may reject with an `RpcError`. Default: the answer is that the method is unknown.
   * A ping is always answered.
   */
  onrequest?(method: string, params: JsonObject, asked: Asked): Promise<JsonObject>;
  /** Called for something odd that has no further effect. */
  onoddity?(message: string): void;
  /** Called if what `listen` asks for has changed, so that it must be called again. */
  oninterest?(): void;
  /** Called if the server no longer speaks the version that was agreed on. */
  onrefused?(refusal: ProtocolFailure): void;
}

/** Whether the answer to a request asks for input instead of giving a result (MCP 2026-07-28). */
export function isQuestion(answer: JsonObject): boolean {
  return answer['resultType'] === 'input_required';
}

/** A stream of changes that the server has acknowledged (MCP 2026-07-28, `subscriptions/listen`). */
export interface Listening {
  /** Resolves when the stream is over, however it ended. Never rejects. */
  readonly over: Promise<void>;
  /** Whether the server reports changes of that list on it. */
  hears(list: ServerList): boolean;
}

/**
 * Opens the stream of changes in place of an earlier one. Resolves when the server has acknowledged it; with undefined if
 * there is nothing to listen to. Rejects as a request does.
 */
export type Listen = (signal: AbortSignal) => Promise<Listening | undefined>;

export interface ProtocolClientOptions {
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities;
  /** The `_meta` of the handshake. Default: none. */
  readonly meta?: JsonObject | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Id of its first request; must be higher than every id of an earlier client of the same transport. Default 0. */
  readonly firstId?: number | undefined;
}

export type CreateProtocolClient = (options: ProtocolClientOptions) => ProtocolClient;

/** A JSON-RPC error from the server or for it. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    readonly rpcCode: number,
    message: string,
    readonly data: unknown,
    /** The method of the request that it answers, if known. */
    readonly method?: string,
  ) {
    super(message);
  }

  /** The same error as the answer to a request. */
  answering(method: string): RpcError {
    return new RpcError(this.rpcCode, this.message, this.data, method);
  }
}

/** The session ended, or could not carry the request, before there was an answer. */
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

/** The server's answer violates the protocol. */
export class ProtocolFailure extends Error {
  override readonly name = 'ProtocolFailure';

  constructor(
    readonly failure: RawFailure,
    /** The versions that the server names, if it is about them. */
    readonly versions: readonly string[] = [],
  ) {
    super(failure.message);
  }
}

/** JSON-RPC 2.0 section 5.1. */
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

export async function createClient(era: Era, options: ProtocolClientOptions): Promise<ProtocolClient> {
  if (era === 'new') return (await import('./stateless-client.js')).createStatelessClient(options);
  const { createSessionClient } = await import('./session-client.js');
  return createSessionClient(options);
}
