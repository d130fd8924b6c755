/**
 * What happens, told to whoever listens. Every event is plain JSON, carries no secret and no call argument, and
 * gets `at` and a strictly growing `seq` from the one publisher.
 */
import type { Failure } from '../../machines/policy/failure.js';
import type { HeldReason } from '../../machines/policy/review.js';
import type { InjectionSignal } from '../calls/result/injection-signals.js';
import type { ReviewedField } from '../review/fingerprint.js';

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

/** The lists of a server. */
export const CATALOG_LISTS = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;

export type CatalogList = (typeof CATALOG_LISTS)[number];

/** Why a command was not obeyed. */
export type RejectionReason = 'unhandled' | 'guarded' | 'ignored' | 'stopped';

/** How a call ended. `not-sent` is safe to repeat; `outcome-unknown` is not. */
export type CallOutcome =
  'answered' | 'tool-error' | 'server-error' | 'timed-out' | 'aborted' | 'not-sent' | 'outcome-unknown';

/**
 * How a request of a server ended: `refused` is a person's or the host's no, `failed` a handler that threw or gave no
 * valid answer, `cancelled` the server's own withdrawal or the end of the session, and of what was `rejected` no handler
 * was asked.
 */
export type ServerRequestOutcome = 'answered' | 'refused' | 'failed' | 'cancelled' | 'rejected';

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
  /** A list of a server is another one than before. */
  | ({
      readonly type: 'catalog.changed';
      /** Which list; `tools` where it is not said. */
      readonly list?: CatalogList;
      /** Raw names; of resources the URIs, of their templates the URI templates. */
      readonly added: readonly string[];
      readonly removed: readonly string[];
      readonly changed: readonly string[];
      /** Tools of the server, whichever list it is about. */
      readonly toolCount: number;
    } & OfConnection)
  /**
   * A tool is kept from the model until somebody approves it: it is other than what was approved. Told again where it
   * changes again.
   */
  | ({
      readonly type: 'tool.held';
      /** The server's own name for it. */
      readonly tool: string;
      readonly reason: HeldReason;
      /** Names of the fields that are other than approved; of one that was not, those that there are. */
      readonly fields: readonly ReviewedField[];
      /** What an approval of the tool as it is now is bound to. */
      readonly fingerprint: string;
    } & OfConnection)
  /** A tool that was held is approved, here or elsewhere. */
  | ({ readonly type: 'tool.approved'; readonly tool: string; readonly fingerprint: string } & OfConnection)
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
  /** The server asked something of the host, and that is over. Nothing of what was asked or answered is told. */
  | ({
      readonly type: 'server.request';
      readonly method: string;
      readonly outcome: ServerRequestOutcome;
      readonly durationMs: number;
      /** Number of the call that made the server ask, where that is known. */
      readonly call?: number;
    } & OfConnection)
  /** The server says that what it sent a person to an address for is done. The id is the one that it gave then. */
  | ({ readonly type: 'elicitation.completed'; readonly elicitationId: string } & OfConnection)
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
