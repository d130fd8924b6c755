/**
 * The lifecycle events. Every event is plain JSON, carries no secret and no call argument, and gets `at` and a strictly
 * growing `seq` from the one publisher. Longer than 300 lines because it documents every field of every event.
 */
import type { Failure } from '../../machines/policy/failure.js';
import type { StopReason } from '../../machines/connection/connection.events.js';
import type { HeldReason, ReviewedField } from '../../machines/policy/review.js';
import type { TroupePhase } from '../../machines/manager/manager.events.js';
import type { ConnectionState } from '../../machines/connection/connection.states.js';
import type { InjectionSignal } from '../results/injection-signals.js';
import type { ConfigProblemCode, RejectionReason } from '../errors.js';
import type { DiagnosticKind } from '../diagnostic-kind.js';

/** The lists of a server. */
export const CATALOG_LISTS = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;

/** One of the lists of a server's catalog. */
export type CatalogList = (typeof CATALOG_LISTS)[number];

/** How a call ended. `not-sent` is safe to repeat; `outcome-unknown` is not. */
export type CallOutcome =
  'answered' | 'tool-error' | 'server-error' | 'timed-out' | 'aborted' | 'not-sent' | 'outcome-unknown';

/**
 * How a request of a server ended. `refused`: a person or the host said no. `failed`: a handler threw or returned no
 * valid answer. `cancelled`: the server withdrew the request, or the session ended. `rejected`: no handler was called.
 */
export type ServerRequestOutcome = 'answered' | 'refused' | 'failed' | 'cancelled' | 'rejected';

/** Which connection, and which of its sessions. */
export interface ConnectionScoped {
  /** Name of the server. */
  readonly server: string;
  /** Number of the session within the connection; 0 before the first. */
  readonly generation: number;
}

/** An event of a troupe without its time and number. `type` says which one. */
export type LifecycleEventBody =
  /** Connections were announced and are being started. */
  | {
      /** Name of the event. */
      readonly type: 'manager.started';
      /** How many are started. Disabled servers are not counted. */
      readonly connections: number;
    }
  /** Every connection has ended. */
  | { readonly type: 'manager.stopped' }
  /** The manager itself crashed. Every session is released, and `close()` still works. */
  | {
      /** Name of the event. */
      readonly type: 'manager.failed';
      /** The message of the error. */
      readonly message: string;
    }
  /** A command to the troupe as a whole was rejected. Nothing has changed. */
  | {
      /** Name of the event. */
      readonly type: 'manager.rejected';
      /** The phase in which the command came. */
      readonly state: TroupePhase;
      /** The command, for instance `manager.start`. */
      readonly event: string;
      /** Why it was rejected. */
      readonly reason: RejectionReason;
      /** Commands that the troupe would have accepted. */
      readonly allowed: readonly string[];
    }
  /**
   * A connection starts for the first time, or again after it ended. Comes before its first state. Not published for a
   * server that never starts, for instance because it is disabled.
   */
  | ({
      readonly type: 'connection.added';
      /** The file, or `options`, that names the server. */
      readonly source: string;
    } & ConnectionScoped)
  /** A server was removed, whether or not it was ever started: its name is free again. */
  | ({ readonly type: 'connection.removed' } & ConnectionScoped)
  /** The connection has entered another state. */
  | ({
      readonly type: 'connection.state';
      /** The state before; null for the first one. */
      readonly from: ConnectionState | null;
      /** The state now. */
      readonly to: ConnectionState;
      /** Path below `to`; regions of a parallel state are joined by `+`. Empty if there is none. */
      readonly substate: string;
    } & ConnectionScoped)
  /** The first list is complete and calls are possible. */
  | ({
      readonly type: 'connection.ready';
      /** Tools of the server, after the entry's filters. */
      readonly toolCount: number;
    } & ConnectionScoped)
  /** A session that was ready has ended unexpectedly. */
  | ({
      readonly type: 'connection.lost';
      /** Why it ended. */
      readonly failure: Failure;
    } & ConnectionScoped)
  /** Another attempt is planned. */
  | ({
      readonly type: 'connection.retrying';
      /** Number of the coming attempt. */
      readonly attempt: number;
      /** Attempts in a round: `maxAttempts` or `maxAttemptsOnceReady` of the policy. */
      readonly maxAttempts: number;
      /** Time until the attempt starts, in milliseconds. */
      readonly delayMs: number;
      /** Why the attempt before failed; null if none did. */
      readonly failure: Failure | null;
    } & ConnectionScoped)
  /** The connection has given up. Only a person, a call or a slow timer starts another attempt. */
  | ({
      readonly type: 'connection.failed';
      /** Why the last attempt failed. */
      readonly failure: Failure;
      /** Number of the attempt that was the last of the round. */
      readonly attempt: number;
      /** Attempts in a round: `maxAttempts` or `maxAttemptsOnceReady` of the policy. */
      readonly maxAttempts: number;
    } & ConnectionScoped)
  /** A connection has ended because it was asked to stop. */
  | ({
      readonly type: 'connection.stopped';
      /**
       * Why: it was stopped, or a changed configuration disabled it; it was removed; the troupe was closed; or its
       * machine crashed because of an internal error (`crash`).
       */
      readonly reason: StopReason | 'crash';
    } & ConnectionScoped)
  /** A command was rejected. Nothing has changed. */
  | ({
      readonly type: 'connection.rejected';
      /** The state in which the command came. */
      readonly state: ConnectionState;
      /** The command, for instance `connection.start`. */
      readonly event: string;
      /** Why it was rejected. */
      readonly reason: RejectionReason;
      /** Commands that the connection would have accepted. */
      readonly allowed: readonly string[];
    } & ConnectionScoped)
  /** An entry of a project file waits to be trusted. */
  | ({ readonly type: 'connection.trustRequired' } & ConnectionScoped)
  /**
   * The server requires credentials, and a person can sign in at `url`. Published once for each wait, as soon as the
   * address is known. If no person is asked (no `auth`, or `interactive: false`), it is published at once and without
   * `url`: the connection waits for other headers or for a sign-in elsewhere.
   */
  | ({
      readonly type: 'connection.authRequired';
      /** Address at which a person signs in. */
      readonly url?: string;
    } & ConnectionScoped)
  /**
   * A sign-in that was offered beside a ready session, because the server refused a call for lack of scope, has ended.
   * Not published if the session ends first. A sign-in for which the connection waits ends with `connection.state`.
   */
  | ({
      readonly type: 'connection.authSettled';
      /** Why it failed; null if a person has signed in, here or elsewhere. */
      readonly failure: Failure | null;
    } & ConnectionScoped)
  /** A list of a server has changed. */
  | ({
      readonly type: 'catalog.changed';
      /** Which list. Default: `tools`. */
      readonly list?: CatalogList;
      /** The server's own names; for resources the URIs, for their templates the URI templates. */
      readonly added: readonly string[];
      /** Named like `added`. */
      readonly removed: readonly string[];
      /** Same name as before, other definition. Named like `added`. */
      readonly changed: readonly string[];
      /** Tools of the server, whichever list it is about. */
      readonly toolCount: number;
    } & ConnectionScoped)
  /**
   * A tool differs from the accepted one, and is held back from the model until it is accepted. Published again if it
   * changes again.
   */
  | ({
      readonly type: 'tool.held';
      /** The server's own name for it. */
      readonly tool: string;
      /** Why it is held. */
      readonly reason: HeldReason;
      /** Names of the fields that differ from the accepted ones; of a tool that was never accepted, all its fields. */
      readonly fields: readonly ReviewedField[];
      /** Fingerprint of the present tool, to which an acceptance is bound. */
      readonly fingerprint: string;
    } & ConnectionScoped)
  /** A tool that was held is accepted, here or elsewhere. */
  | ({
      readonly type: 'tool.accepted';
      /** The server's own name for it. */
      readonly tool: string;
      /** Fingerprint of the definition that is accepted. */
      readonly fingerprint: string;
    } & ConnectionScoped)
  /**
   * A call was sent. `call` is the number of this attempt; one `call.finished` with that number follows. A call that was
   * lost with its connection may be sent once more, as another attempt; the caller gets the outcome of the last one.
   */
  | ({
      readonly type: 'call.started';
      /** Number of the attempt, unique within the troupe. */
      readonly call: number;
      /** The server's own name of the tool. */
      readonly tool: string;
      /** Number of the lost attempt that this one repeats. */
      readonly repeats?: number;
    } & ConnectionScoped)
  /** The server has reported progress. */
  | ({
      readonly type: 'call.progress';
      /** Number of the attempt. */
      readonly call: number;
      /** The server's own name of the tool. */
      readonly tool: string;
      /** How much is done, in units of the server (MCP 2025-11-25, Progress). */
      readonly progress: number;
      /** How much there is to do, in the same units, if the server says so. */
      readonly total?: number;
    } & ConnectionScoped)
  /** An attempt of a call has ended. */
  | ({
      readonly type: 'call.finished';
      /** Number of the attempt, as in `call.started`. */
      readonly call: number;
      /** The server's own name of the tool. */
      readonly tool: string;
      /** Time since `call.started`, in milliseconds. */
      readonly durationMs: number;
      /** How it ended. */
      readonly outcome: CallOutcome;
    } & ConnectionScoped)
  /** A request of the server to the host has ended. Neither the question nor the answer is published. */
  | ({
      readonly type: 'server.request';
      /** Method of the request, for instance `elicitation/create`. */
      readonly method: string;
      /** How it ended. */
      readonly outcome: ServerRequestOutcome;
      /** Time from the request to the answer, in milliseconds. */
      readonly durationMs: number;
      /** Number of the call that made the server ask, if known. */
      readonly call?: number;
    } & ConnectionScoped)
  /** The server reports that a person has completed a URL elicitation. The id is the one of that request. */
  | ({
      readonly type: 'elicitation.completed';
      /** The id that the URL elicitation had. */
      readonly elicitationId: string;
    } & ConnectionScoped)
  /** The server says that a resource has changed. */
  | ({
      readonly type: 'resource.updated';
      /** Its URI, as the server gave it. */
      readonly uri: string;
    } & ConnectionScoped)
  /** A notification that Troupe does not know, for instance one of an extension. It has no further effect. */
  | ({
      readonly type: 'server.notification';
      /** Its method, cut if it is long. */
      readonly method: string;
      /** Its parameters, without secrets. Absent if they have more than 64 Ki characters or are nested too deeply. */
      readonly params?: Readonly<Record<string, unknown>>;
    } & ConnectionScoped)
  /** A line the server wrote to stderr, or a log message of the protocol. */
  | ({
      readonly type: 'server.log';
      /** `stderr`: a line of the process. `protocol`: `notifications/message` of MCP. */
      readonly stream: 'stderr' | 'protocol';
      /** The level of a log message of the protocol (RFC 5424), for instance `warning`. */
      readonly level?: string;
      /** The text, without secrets; cut if it is long. Data other than text is JSON. */
      readonly message: string;
    } & ConnectionScoped)
  /** A notice or a problem that changed no state. */
  | {
      /** Name of the event. */
      readonly type: 'diagnostic';
      /** Name of the server, if the diagnostic is about one. */
      readonly server?: string;
      /** Number of its session, if the diagnostic is about one. */
      readonly generation?: number;
      /** Which diagnostic. */
      readonly kind: DiagnosticKind;
      /** What happened, for a person. Never holds a secret. */
      readonly message: string;
      /** The server's own name of the tool, if the diagnostic is about one. */
      readonly tool?: string;
      /** For `config-problem`: the code of the problem. */
      readonly problem?: ConfigProblemCode;
      /** For `injection-signals`: what was found in a result, and where. */
      readonly signals?: readonly InjectionSignal[];
    };

/** An event of a troupe, with its time and number. Plain JSON. */
export type LifecycleEvent = LifecycleEventBody & {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Grows with every event. */
  readonly seq: number;
};

/** The `type` of each event of a troupe. */
export type LifecycleEventType = LifecycleEvent['type'];

/** The `diagnostic` event: something odd that changed nothing. */
export type DiagnosticEvent = Extract<LifecycleEvent, { readonly type: 'diagnostic' }>;

export function isDiagnostic(event: LifecycleEvent): event is DiagnosticEvent {
  return event.type === 'diagnostic';
}
