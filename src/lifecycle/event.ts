/**
 * What happens, told to whoever listens. Every event is plain JSON, carries no secret and no call argument, and
 * gets `at` and a strictly growing `seq` from the one publisher.
 */
import type { Failure } from '../../machines/policy/failure.js';

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

interface OfConnection {
  readonly connection: string;
  /** Number of the session within the connection; 0 before the first. */
  readonly generation: number;
}

export type LifecycleEventBody =
  | { readonly type: 'manager.started'; readonly connections: number }
  | { readonly type: 'manager.stopped' }
  | { readonly type: 'manager.failed'; readonly message: string }
  | ({ readonly type: 'connection.added'; readonly source: string } & OfConnection)
  | ({ readonly type: 'connection.removed' } & OfConnection)
  | ({
      readonly type: 'connection.state';
      readonly from: ConnectionState | null;
      readonly to: ConnectionState;
      /** Path below `to`; regions of a parallel state are joined by `+`. Empty where there is none. */
      readonly substate: string;
    } & OfConnection)
  | ({ readonly type: 'connection.ready'; readonly toolCount: number } & OfConnection)
  | ({ readonly type: 'connection.lost'; readonly failure: Failure } & OfConnection)
  | ({
      readonly type: 'connection.retrying';
      /** Number of the coming attempt. */
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly delayMs: number;
      readonly failure: Failure | null;
    } & OfConnection)
  | ({ readonly type: 'connection.failed'; readonly failure: Failure } & OfConnection)
  | ({ readonly type: 'connection.stopped'; readonly reason: string } & OfConnection)
  | ({
      readonly type: 'connection.rejected';
      readonly state: ConnectionState;
      readonly event: string;
      readonly reason: RejectionReason;
      /** Commands the connection would have obeyed. */
      readonly allowed: readonly string[];
    } & OfConnection)
  | ({ readonly type: 'connection.trustRequired' } & OfConnection)
  | ({ readonly type: 'connection.authRequired'; readonly url?: string } & OfConnection)
  | ({
      readonly type: 'catalog.changed';
      /** Raw names. */
      readonly added: readonly string[];
      readonly removed: readonly string[];
      readonly changed: readonly string[];
      readonly toolCount: number;
    } & OfConnection)
  | ({ readonly type: 'call.started'; readonly call: number; readonly tool: string } & OfConnection)
  | ({
      readonly type: 'call.progress';
      readonly call: number;
      readonly tool: string;
      readonly progress: number;
      readonly total?: number;
    } & OfConnection)
  | ({
      readonly type: 'call.finished';
      readonly call: number;
      readonly tool: string;
      readonly durationMs: number;
      readonly outcome: CallOutcome;
    } & OfConnection)
  | ({
      readonly type: 'server.log';
      readonly stream: 'stderr' | 'protocol';
      readonly level?: string;
      readonly message: string;
    } & OfConnection)
  | {
      readonly type: 'diagnostic';
      readonly connection?: string;
      readonly generation?: number;
      /** Stable kebab-case word. */
      readonly kind: string;
      readonly message: string;
    };

export type LifecycleEvent = LifecycleEventBody & { readonly at: number; readonly seq: number };

export type LifecycleEventType = LifecycleEvent['type'];
