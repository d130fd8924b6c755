/**
 * What happens, told to whoever listens. Every event is plain JSON, carries no secret and no call argument, and
 * gets `at` and a strictly growing `seq` from the one publisher.
 */
import type { Failure } from '../../machines/policy/failure.js';
import type { InjectionSignal } from '../calls/result/injection-signals.js';

/** The public top-level states of a connection. */
export const CONNECTION_STATES = [
  'configuring',
  'launching',
  'handshaking',
  'ready',
  'reconnecting',
  'failed',
  'shuttingDown',
  'stopped',
] as const;

export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** Why a command was not obeyed. */
export type RejectionReason = 'unhandled' | 'guarded' | 'ignored' | 'stopped';

/** How a call ended. `not-sent` is safe to repeat; `outcome-unknown` is not. */
export type CallOutcome =
  'answered' | 'tool-error' | 'server-error' | 'timed-out' | 'aborted' | 'not-sent' | 'outcome-unknown';

/** Which connection, and which of its sessions. */
export interface OfConnection {
  /** Name of the connection. */
  readonly connection: string;
  /** Number of the session within the connection; 0 before the first. */
  readonly generation: number;
}

export type LifecycleEventBody =
  /** Connections were announced and are being started. */
  | { readonly type: 'manager.started'; readonly connections: number }
  /** Every connection has ended. */
  | { readonly type: 'manager.stopped' }
  /** The manager itself broke. Every session is released and `close()` still works. */
  | { readonly type: 'manager.failed'; readonly message: string }
  /** A connection exists from here on. Comes before its first state. */
  | ({ readonly type: 'connection.added'; readonly source: string } & OfConnection)
  /** The name is free again. */
  | ({ readonly type: 'connection.removed' } & OfConnection)
  /** The connection has entered another state. */
  | ({
      readonly type: 'connection.state';
      readonly from: ConnectionState | null;
      readonly to: ConnectionState;
      /** Path below `to`; regions of a parallel state are joined by `+`. Empty where there is none. */
      readonly substate: string;
    } & OfConnection)
  /** The first list is complete and calls are possible. */
  | ({ readonly type: 'connection.ready'; readonly toolCount: number } & OfConnection)
  /** A session that was ready has ended unasked. */
  | ({ readonly type: 'connection.lost'; readonly failure: Failure } & OfConnection)
  /** Another attempt is planned. */
  | ({
      readonly type: 'connection.retrying';
      /** Number of the coming attempt. */
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly delayMs: number;
      readonly failure: Failure | null;
    } & OfConnection)
  /** Given up, with the cause. Only a person, a call or a slow clock tries again. */
  | ({
      readonly type: 'connection.failed';
      readonly failure: Failure;
      /** Number of the attempt that was the last of the round. */
      readonly attempt: number;
      readonly maxAttempts: number;
    } & OfConnection)
  /** The end of a connection that was asked to stop. */
  | ({ readonly type: 'connection.stopped'; readonly reason: string } & OfConnection)
  /** A command was not obeyed. Nothing has changed. */
  | ({
      readonly type: 'connection.rejected';
      readonly state: ConnectionState;
      readonly event: string;
      readonly reason: RejectionReason;
      /** Commands the connection would have obeyed. */
      readonly allowed: readonly string[];
    } & OfConnection)
  /** An entry of a project file waits for approval. */
  | ({ readonly type: 'connection.trustRequired' } & OfConnection)
  /** The server wants credentials. Told again with `url` once there is an address at which a person can sign in. */
  | ({ readonly type: 'connection.authRequired'; readonly url?: string } & OfConnection)
  /** The tools of a server are other than before. */
  | ({
      readonly type: 'catalog.changed';
      /** Raw names. */
      readonly added: readonly string[];
      readonly removed: readonly string[];
      readonly changed: readonly string[];
      readonly toolCount: number;
    } & OfConnection)
  /**
   * A call was sent. `call` is the number of this sending, which one `call.finished` follows. A call that was lost with
   * its connection may be sent once more, under a number of its own: its caller gets the outcome of the last sending.
   */
  | ({
      readonly type: 'call.started';
      readonly call: number;
      readonly tool: string;
      /** Number of the lost sending that this one repeats. */
      readonly repeats?: number;
    } & OfConnection)
  /** The server has told how far it is. */
  | ({
      readonly type: 'call.progress';
      readonly call: number;
      readonly tool: string;
      readonly progress: number;
      readonly total?: number;
    } & OfConnection)
  /** A sending has its one outcome. */
  | ({
      readonly type: 'call.finished';
      readonly call: number;
      readonly tool: string;
      readonly durationMs: number;
      readonly outcome: CallOutcome;
    } & OfConnection)
  /** The server says that a resource has changed. */
  | ({ readonly type: 'resource.updated'; readonly uri: string } & OfConnection)
  /** A line the server wrote to stderr, or a log message of the protocol. */
  | ({
      readonly type: 'server.log';
      readonly stream: 'stderr' | 'protocol';
      readonly level?: string;
      readonly message: string;
    } & OfConnection)
  /** Something odd that changed nothing. */
  | {
      readonly type: 'diagnostic';
      readonly connection?: string;
      readonly generation?: number;
      /** Stable kebab-case word. */
      readonly kind: string;
      readonly message: string;
      /** The server's own name of the tool, where it is about one. */
      readonly tool?: string;
      /** Of `injection-signals`: what was found in a result, and where. */
      readonly signals?: readonly InjectionSignal[];
    };

export type LifecycleEvent = LifecycleEventBody & {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Grows with every event. */
  readonly seq: number;
};

export type LifecycleEventType = LifecycleEvent['type'];
