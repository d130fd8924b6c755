/** The script of a scripted server. Without functions, it is plain JSON and can drive a child process. */
import type { RequestId } from '../mcp/messages.js';
import type { Tool } from '../mcp/server-offers.js';

/** Params of a JSON-RPC message. */
export type Params = Readonly<Record<string, unknown>>;

/** What a handler can use besides its return value. */
export interface Exchange {
  /** JSON-RPC id of the request. */
  readonly id: RequestId;
  /** Number of the session, from 1. */
  readonly session: number;
  /**
   * Sends a progress notification, if the client asked for progress.
   *
   * @param progress How much is done; must grow with every notification.
   * @param total How much there is to do, in the same units. Default: unknown.
   */
  progress(progress: number, total?: number): void;
}

/**
 * Gives the result, or throws an `RpcFault`. Returning `SILENCE` leaves the request without an answer; what throws
 * something else, or gives nothing, is answered with an internal error.
 *
 * @param params Params of the request; `{}` if it has none.
 * @param exchange The request itself, and how to report progress.
 */
export type Handler = (params: Params, exchange: Exchange) => unknown;

/** What goes wrong, in this order: the wait, the line on stderr, the garbage, the fault. */
export interface Misbehavior {
  /** Milliseconds, before all that follows here. Default 0. */
  readonly afterMs?: number;
  /** A line on stderr. An in-memory server has none. */
  readonly stderr?: string;
  /** Bytes that are no message. An in-memory server sends an invalid message instead. */
  readonly garbage?: string;
  /** `silent`: there is never an answer. `crash`: the session, or the process, ends. Default: none. */
  readonly fault?: 'silent' | 'crash';
  /** Exit code of a process that crashes. Default 1. */
  readonly exitCode?: number;
}

/** What a server replies over HTTP instead of a message of MCP. */
export interface HttpReply {
  /** Status code (RFC 9110 section 15). Default 200. */
  readonly status?: number;
  /** Headers of the reply. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of the reply. Default: empty. */
  readonly body?: string;
  /** True: the connection breaks after the body. Default false. */
  readonly broken?: boolean;
}

/** One answer. Without `result` and `error` it is the ordinary one, or the client's answer to `ask`. */
export interface Answer extends Misbehavior {
  /** Result of the request. Default: the ordinary one. */
  readonly result?: unknown;
  /** A JSON-RPC error instead of a result. */
  readonly error?: {
    /** JSON-RPC error code, such as -32602. */
    readonly code: number;
    /** Text of the error. */
    readonly message: string;
    /** Further data of the error. Default: none. */
    readonly data?: unknown;
  };
  /** Number of progress notifications before the answer, if the client asked for progress. Default 0. */
  readonly progress?: number;
  /** A request to the client before the answer, such as `roots/list` or `sampling/createMessage`. */
  readonly ask?: {
    /** Method of the request. */
    readonly method: string;
    /** Params of the request. Default: `{}`. */
    readonly params?: Params;
  };
  /** Tools from this answer on; `notifications/tools/list_changed` announces them. */
  readonly tools?: readonly Tool[];
  /**
   * The call becomes a task with these states, if the client follows tasks (MCP 2026-07-28, extension
   * `io.modelcontextprotocol/tasks`). Each `tasks/get` moves to the next state, except from a question, which only
   * `tasks/update` does; the last state stays. A server with tasks offers the extension.
   */
  readonly task?: readonly TaskState[];
  /** The reply to the HTTP request instead of the answer. Without HTTP, this field has no effect. */
  readonly http?: HttpReply;
}

/** One state of a task. Further fields are sent, too, and each may be wrong. */
export interface TaskState {
  /** Any other field. */
  readonly [field: string]: unknown;
  /** `working`, `input_required`, `completed`, `failed` or `cancelled`. Default `working`. */
  readonly status?: unknown;
  /** The result of a task that is completed. Default: the ordinary one of the call. */
  readonly result?: unknown;
  /** The JSON-RPC error of a task that failed. */
  readonly error?: unknown;
  /** The questions of a task that wants input, by key. */
  readonly inputRequests?: unknown;
}

/** What a scripted server offers and how it answers. Every field is optional. */
export interface ServerScript {
  /** Default: one tool, `echo`. */
  readonly tools?: readonly Tool[];
  /** The tools in pages, instead of `tools`. The cursor is the number of the next page. */
  readonly pages?: readonly (readonly Tool[])[];
  /**
   * Which versions of MCP it speaks. `old`: up to 2025-11-25; it does not know `server/discover`. `new`: 2026-07-28; it
   * refuses `initialize`. `both`: each request decides. Default `old`.
   */
  readonly era?: 'old' | 'new' | 'both';
  /** Version in the answer to `initialize`. Default: the version of the request. */
  readonly protocolVersion?: string;
  /** Capabilities in the answer to `initialize`. Default: tools with `listChanged`. */
  readonly capabilities?: Params;
  /** Misbehavior at the start of each session. Default: none. */
  readonly start?: Misbehavior;
  /** True for a process that survives the end of its stdin and SIGTERM. Default false. */
  readonly stubborn?: boolean;
  /**
   * Answers by method, instead of the ordinary ones. Each request takes the next answer of a list; the last
   * one is used from then on. `{}` is the ordinary answer. `GET` and `DELETE` are the requests of the same name to an HTTP
   * server: the stream of its own messages, and the end of a session.
   */
  readonly on?: Readonly<Record<string, Handler | Answer | readonly (Handler | Answer)[]>>;
  /** Called before a session is accepted, with its number. May wait or throw. */
  readonly beforeConnect?: (session: number) => Promise<void> | void;
}

/** A message that arrived. */
export interface Received {
  /** Number of the session, from 1. */
  readonly session: number;
  /** Method of the request or notification. */
  readonly method: string;
  /** Params of the message; `{}` if it has none. */
  readonly params: Params;
  /** JSON-RPC id of a request; undefined for a notification. */
  readonly id: RequestId | undefined;
}

/** Orders to a running server, which it follows at once and in this order: script, tools, message, streams, misbehavior. */
export interface ScriptedOrder extends Omit<Misbehavior, 'afterMs' | 'fault'> {
  /**
   * `crash` ends the process; without a process, every session. Default: nothing. For silence, see
   * `script`.
   */
  readonly fault?: 'crash';
  /** Replaces the script, also for later processes and sessions. */
  readonly script?: ServerScript;
  /** Replaces the tools; `notifications/tools/list_changed` announces them. */
  readonly tools?: NonNullable<ServerScript['tools']>;
  /** Sends any message, valid or not. */
  readonly send?: unknown;
  /** True: ends the streams on which clients wait for changes. Default false. */
  readonly endStreams?: boolean;
  /** For an HTTP server: false refuses every connection from now on, true accepts them again. Default: as before. */
  readonly listening?: boolean;
}
