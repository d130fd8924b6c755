/** What a scripted server is told to do. Without functions in it, a script is plain JSON and can drive a child process. */
import type { RequestId, Tool } from '@modelcontextprotocol/sdk/types.js';

export type Params = Readonly<Record<string, unknown>>;

/** What a handler may do beside answering. */
export interface Exchange {
  readonly id: RequestId;
  /** Number of the session, from 1. */
  readonly session: number;
  /** Tells the client how far it is, where it asked for that. */
  progress(progress: number, total?: number): void;
}

/**
 * Gives the result, or throws an `RpcFault`. Returning `SILENCE` leaves the request without an answer; what throws
 * something else, or gives nothing, is answered with an internal error.
 */
export type Handler = (params: Params, exchange: Exchange) => unknown;

/** What goes wrong, in this order: the wait, the line on stderr, the garbage, the fault. */
export interface Misbehavior {
  /** Milliseconds, before all that follows here. Default 0. */
  readonly afterMs?: number;
  /** A line on stderr; in this process nobody hears it. */
  readonly stderr?: string;
  /** Bytes that are no message; in this process, a message that is none. */
  readonly garbage?: string;
  /** `silent`: there is never an answer. `crash`: the session, or the process, ends. Default: none. */
  readonly fault?: 'silent' | 'crash';
  /** Of a process that crashes. Default 1. */
  readonly exitCode?: number;
}

/** One answer. Without `result` and `error` it is the ordinary one, or what the client said to `ask`. */
export interface Answer extends Misbehavior {
  readonly result?: unknown;
  /** A JSON-RPC error instead. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** So many notifications of progress before anything else, where the client asked for them. Default 0. */
  readonly progress?: number;
  /** The client is asked first, such as for `roots/list` or `sampling/createMessage`. */
  readonly ask?: { readonly method: string; readonly params?: Params };
  /** The server's tools from here on, told by `notifications/tools/list_changed`. */
  readonly tools?: readonly Tool[];
}

export interface ServerScript {
  /** Default: one tool, `echo`. */
  readonly tools?: readonly Tool[];
  /** The tools in pages; the cursor is the number of the next page. Instead of `tools`. */
  readonly pages?: readonly (readonly Tool[])[];
  /** Answered in `initialize`. Default: the version that was asked for. */
  readonly protocolVersion?: string;
  /** Default: tools whose list may change. */
  readonly capabilities?: Params;
  /** What it does as soon as it runs. */
  readonly start?: Misbehavior;
  /** A process that neither the end of its stdin nor SIGTERM ends. Default false. */
  readonly stubborn?: boolean;
  /**
   * By method, instead of the ordinary answer: one for every request, or a list of which each request takes the next one
   * and the last one is for all that follow. `{}` is the ordinary answer.
   */
  readonly on?: Readonly<Record<string, Handler | Answer | readonly (Handler | Answer)[]>>;
  /** Runs before a session is accepted; may wait or throw. */
  readonly beforeConnect?: (session: number) => Promise<void> | void;
}

/** A message that arrived. */
export interface Received {
  /** Number of the session, from 1. */
  readonly session: number;
  readonly method: string;
  readonly params: Params;
  /** Undefined for a notification. */
  readonly id: RequestId | undefined;
}
