/**
 * The port between the runtime and the transport that carries JSON-RPC messages to one server.
 *
 * A session transport is the SDK's `Transport` plus what supervision needs: it says how it ended, and it can prove
 * that nothing of it is left.
 *
 * T1. `start()` rejects with a `TransportError`, never with a bare `Error`, and leaves nothing behind when it does.
 * T2. `onclose` fires at most once, after the server's side is known to be over; `ended` is set before it fires.
 * T3. `close()` is bounded, idempotent, never rejects, and resolves only when nothing of the session is left
 *     (processes, sockets, timers, listeners). `kill()` does the same without courtesy.
 * T4. A message passed to `send()` is either handed to the wire (`written`) or known not to be: a rejection of
 *     `send()` carries `TransportError.written`.
 */
import type { DiagnosticKind } from '../diagnostic-kind.js';
import type { Transport, TransportSendOptions, MessageExtraInfo } from '../mcp/transport.js';
import type { JSONRPCMessage, RequestId } from '../mcp/messages.js';
import type { RawFailure } from '../failures/transport-error.js';
import { toError } from '../text/error-message.js';

/** An oddity that did not end the session: noise on stdout, a refused GET stream, a failed DELETE. */
export interface TransportNotice {
  /** What kind of oddity it is. */
  readonly kind: DiagnosticKind;
  /** What happened, in one sentence for people. */
  readonly message: string;
}

/**
 * How a server is reached: a child process, streamable HTTP, the older HTTP with SSE, or an object of this
 * process.
 */
export type TransportKind = 'stdio' | 'http' | 'sse' | 'in-process';

/** What is known of a message beside its content. */
export interface MessageContext extends MessageExtraInfo {
  /** The request of Troupe during which it came, if known. */
  readonly relatedRequestId?: RequestId;
}

/** Headers of an HTTP request by name. A name may have several values. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers for the HTTP request with one message. Other transports send none. */
export interface MessageHeaders {
  /** Headers of the HTTP request that caused the message: those that the entry names in `forwardHeaders` are passed on. */
  readonly received?: RequestHeaders | undefined;
  /** Headers that hooks of the host have added: all of them are sent. */
  readonly added?: Readonly<Record<string, string>> | undefined;
}

/** Options for sending one message. */
export interface SendOptions extends TransportSendOptions {
  /** Headers for this message. Default: none. */
  readonly headers?: MessageHeaders | undefined;
  /**
   * The message belongs to no session (MCP 2026-07-28). A transport over HTTP sends these headers with it, and does not
   * resume the stream of its answer. Default: it belongs to the session.
   */
  readonly stateless?: Readonly<Record<string, string>> | undefined;
}

/** A transport of the MCP SDK that also reports how and why a session ends. */
export interface SessionTransport extends Transport {
  /** How the server is reached. */
  readonly kind: TransportKind;
  onmessage?: (<T extends JSONRPCMessage>(message: T, context?: MessageContext) => void) | undefined;
  /**
   * Sends one message.
   *
   * @param message A request, a notification or an answer.
   * @param options Headers to pass on. Default: none.
   */
  send(message: JSONRPCMessage, options?: SendOptions): Promise<void>;
  /** Process id of the server; undefined if it has no process. */
  readonly pid?: number | undefined;
  /** Address of the server without credentials and query; undefined if it has none. */
  readonly url?: string | undefined;
  /** Why the session is over; undefined while it is open, and after a close that Troupe requested. */
  readonly ended: RawFailure | undefined;
  /** The last lines of the server's stderr, oldest first; empty if it has none. */
  stderrTail(): readonly string[];
  /** What a process wrote to stdout before any message, oldest first. */
  stdoutTail?(): readonly string[];
  /** Ends the session gracefully, within the limits given at construction. */
  close(): Promise<void>;
  /** Ends the session immediately. May be called during `close()` to speed it up. */
  kill(): Promise<void>;
  /** Called for each line of the server's stderr. Long lines are cut. */
  onstderr?: ((line: string) => void) | undefined;
  /** Called for an oddity that did not end the session. */
  onnotice?: ((notice: TransportNotice) => void) | undefined;
  /**
   * The request with this id can no longer be answered by this session; its outcome is unknown. At most once per
   * request, never after `onclose`, and never for a request whose `send()` was rejected.
   */
  onlost?: ((id: RequestId, failure: RawFailure) => void) | undefined;
  /**
   * Ends the exchange of a request whose answer is no longer awaited, which tells the server so. Undefined if requests have
   * no exchange of their own: then a message has to tell it.
   *
   * @param id JSON-RPC id of the request.
   */
  drop?(id: RequestId): void;
  /** Called for every message and sign of life from the server. */
  onactivity?: (() => void) | undefined;
  /**
   * Called after `count` exchanges in a row have failed to reach the server, once the last one has settled.
   */
  onunreachable?: ((count: number, failure: RawFailure) => void) | undefined;
  /** Called for a fault that does not prove the session lost. The server should be pinged. */
  onsuspect?: (() => void) | undefined;
}

// Runs a callback of a transport's owner. `onerror` gets an error that it throws. If `onerror` throws as well, that error is
// dropped.

export function runGuarded(
  transport: { readonly onerror?: ((error: Error) => void) | undefined },
  callback: () => void,
): void {
  try {
    callback();
  } catch (error) {
    try {
      transport.onerror?.(toError(error));
    } catch {
      // See above.
    }
  }
}
