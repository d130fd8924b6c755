/**
 * The port between the runtime and whatever carries JSON-RPC messages to one server.
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
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Failure } from '../../machines/policy/failure.js';

/** A failure before the runtime has put it in its place: phase and time are added by whoever reports it. */
export type RawFailure = Omit<Failure, 'phase' | 'at'>;

/** The way every transport fails: a record for the machines, wrapped so that it can be thrown. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly failure: RawFailure;
  /** For a failed `send`: whether the server may have acted on the message. */
  readonly written: boolean;

  constructor(failure: RawFailure, options: { readonly written?: boolean; readonly cause?: unknown } = {}) {
    super(failure.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.written = options.written ?? false;
  }
}

/** Something worth telling that ended nothing: noise on stdout, a refused GET stream, a failed DELETE. */
export interface TransportNotice {
  /** Stable kebab-case word, for instance `stdout-noise`. */
  readonly kind: string;
  readonly message: string;
}

export type TransportKind = 'stdio' | 'http' | 'sse' | 'in-process';

/** What is known of a message beside its content. */
export interface MessageContext extends MessageExtraInfo {
  /** The request of ours in whose course it came, where that is sure. */
  readonly relatedRequestId?: RequestId;
}

export interface SessionTransport extends Transport {
  readonly kind: TransportKind;
  onmessage?: (<T extends JSONRPCMessage>(message: T, context?: MessageContext) => void) | undefined;
  /** Process id of the server, where there is one. */
  readonly pid?: number | undefined;
  /** Address of the server without credentials or query, where there is one. */
  readonly url?: string | undefined;
  /** Why the session is over; undefined while it is not. A close asked for by us leaves it undefined. */
  readonly ended: RawFailure | undefined;
  /** The last lines of the server's stderr, oldest first; empty where there is none. */
  stderrTail(): readonly string[];
  /** Graceful end within the limits given at construction. See T3. */
  close(): Promise<void>;
  /** Immediate end. May be called during `close()` and hurries it. See T3. */
  kill(): Promise<void>;
  /** Lines of the server's stderr as they come (already bounded in length). */
  onstderr?: ((line: string) => void) | undefined;
  onnotice?: ((notice: TransportNotice) => void) | undefined;
  /**
   * The request with this id can no longer be answered by this session; its outcome is unknown. At most once per
   * request, never after `onclose`, and never for a request whose `send()` was rejected.
   */
  onlost?: ((id: RequestId, failure: RawFailure) => void) | undefined;
  /** Called for every message or byte of life from the server, for idle and liveness tracking. */
  onactivity?: (() => void) | undefined;
  /** Something broke that says nothing for sure: whether the server is still there is worth asking. */
  ondoubt?: (() => void) | undefined;
}
