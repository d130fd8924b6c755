/**
 * What enters and leaves the connection machine: input, context, events, effect inputs and outputs, emitted events.
 * All of it is plain JSON. Live things (transports, clients, processes) are named by connection and generation only.
 *
 * Longer than 300 lines because every event and every effect input and output is declared here, with its meaning.
 */
import type { ListPlan } from './list-plan.js';
import type { Implementation, ServerCapabilities } from '../mcp.js';
import type { Era } from '../policy/protocol-era.js';
import type { Failure } from '../policy/failure.js';
import type { ConnectionPolicy } from '../policy/policy.js';
import type { StartClaim } from '../policy/start-queue.js';

/**
 * How a server is reached: a child process, streamable HTTP, the older HTTP with SSE, or an object of this
 * process.
 */
export type TransportKind = 'stdio' | 'http' | 'sse' | 'in-process';

/** Why a connection ends for good. */
export type StopReason = 'stop' | 'remove' | 'close';

/** Input of the connection chart. */
export interface ConnectionInput {
  /** Name of the server in the configuration. */
  readonly name: string;
  /** How the server is reached. */
  readonly transport: TransportKind;
  /** The limits and delays of the connection. */
  readonly policy: ConnectionPolicy;
  /** Seed of this connection's jitter. */
  readonly seed: number;
  /** Last generation that an earlier incarnation gave out; 0 for the first. */
  readonly generation: number;
  /** False while the network gate is closed. */
  readonly online: boolean;
  /** True if a start was requested, so that a lazy connection does not rest. */
  readonly wanted: boolean;
  /** The error that the previous incarnation died of: this one begins in `failed`. Null if it replaces none. */
  readonly crash: Failure | null;
  /** The manager knows that the first attempt is over. In an input: from an earlier incarnation. */
  readonly isAttempted: boolean;
}

/** What a server says about itself in its answer to `initialize`. */
export interface ServerIdentity {
  /** Name and version of the server (`serverInfo`). */
  readonly info: Implementation;
  /** Capabilities that the server declares. */
  readonly capabilities: ServerCapabilities;
  /** Version of MCP that the session uses, such as `2025-11-25`. */
  readonly protocolVersion: string;
  /** How to use the server, for a model: untrusted text. Null if it gives none. */
  readonly instructions: string | null;
}

/** A list other than the tools. `resources` includes resource templates. */
export type ExtraList = 'resources' | 'prompts';

/** A list of a server's catalog that is read on its own. */
export type ServerList = 'tools' | ExtraList;

/** The part of an entry that a chart needs. */
export interface EntryTerms {
  /** How the server is reached. */
  readonly transport: TransportKind;
  /** The limits and delays of the connection. */
  readonly policy: ConnectionPolicy;
}

/** The entry that a connection changes to. */
export interface NextTerms extends EntryTerms {
  /** The era that its session speaks, once it is known. */
  readonly era?: Era;
}

/** How the stream of changes of the session in use fares. */
export interface SubscriptionTries {
  /** Times in a row that it was opened again without lasting. */
  readonly tries: number;
  /** When the open one was opened, milliseconds since the epoch; null while there is none. */
  readonly since: number | null;
}

/** Context of the connection chart. Plain JSON. */
export interface ConnectionContext extends ConnectionInput {
  /** The last generation issued, to the session in use or to its successor. */
  readonly issued: number;
  /** The current entry, if the session in use still belongs to the former one. */
  readonly next: NextTerms | null;
  /** The era of the protocol that the session in use speaks. */
  readonly era: Era;
  /** The stream of changes of the session in use. */
  readonly subscription: SubscriptionTries;
  /** The former session, while its last calls may finish. */
  readonly retiring: number | null;
  /** Why it is shutting down for good, or why it has stopped. */
  readonly stopReason: StopReason;
  /** The next or current attempt is automatic: neither a person nor a call requested it. */
  readonly unasked: boolean;
  /** Number of the attempt under way or last made in this round, from 1; 0 before the first. */
  readonly attempt: number;
  /** Delay before the next attempt, in milliseconds. */
  readonly delayMs: number;
  /** Times of recent losses, for the restart intensity. */
  readonly losses: readonly number[];
  /** Times at which recent sign-ins completed, for `ConnectionPolicy.signIns`. */
  readonly signIns: readonly number[];
  /** When the last effect settled. The machine has no other clock. */
  readonly at: number;
  /** Address of the session that was opened last; null if it has none. */
  readonly url: string | null;
  /** Address at which the server was ready last. */
  readonly provenUrl: string | null;
  /** Why the last attempt or session failed; null if none did. */
  readonly failure: Failure | null;
  /** Which lists of tools are being read or are due. */
  readonly tools: ListPlan;
  /** Which lists of resources and prompts are being read or are due. */
  readonly extras: ListPlan;
}

/** Part of every effect's result: when it began and when it settled. */
export interface Settled {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The result of an effect, before its times are added.
 *
 * @typeParam T Result of the effect, with its times.
 */
export type Unsettled<T> = T extends Settled ? Omit<T, keyof Settled> : never;

/** Identifies the session that an effect works on. */
export interface SessionKey {
  /** Name of the connection. */
  readonly name: string;
  /** Number of the session, from 1. */
  readonly generation: number;
}

export interface BoundedSessionInput extends SessionKey {
  /** Milliseconds after which the effect ends in any case; 0 = no limit. */
  readonly limitMs: number;
}

/** `generation` names the session that the resolved entry is for. */
export interface ResolveConfigInput extends SessionKey {
  /** False: a lazy server whose tools are known may stay dormant. */
  readonly wanted: boolean;
}

/** Result of the effect `resolveConfig`. */
export type ResolveConfigOutput = Settled & {
  /** `untrusted`: a person must trust the entry first. `dormant`: the server rests until its first use. */
  readonly kind: 'untrusted' | 'dormant' | 'resolved';
};

export interface OpenTransportInput extends BoundedSessionInput {
  /** The generation in use, which the new session will replace: every other session must be gone. Null: all must. */
  readonly replaces: number | null;
}

/** Result of the effect `openTransport`. */
export type OpenTransportOutput = Settled & {
  /** How the server is reached, after any fallback from `http` to `sse`. */
  readonly transport: TransportKind;
  /** Process id of the server; null if it has no process. */
  readonly pid: number | null;
  /** Address without credentials and query; null if it has none. */
  readonly url: string | null;
};

/** Result of the effect `handshake`. */
export type HandshakeOutput = Settled & {
  /** What the server answered to `initialize`. */
  readonly server: ServerIdentity;
};

/** Result of the effect that adopts a new list of tools. */
export type AdoptToolsOutput = Settled & {
  /** Hash of the list. */
  readonly hash: string;
  /** Number of tools in the list. */
  readonly tools: number;
};

export interface EnrichCatalogInput extends BoundedSessionInput {
  /** Lists to read. */
  readonly lists: readonly ServerList[];
}

/** Number of items in each list, including lists that were not read again. */
export type EnrichCatalogOutput = Settled & {
  /** Number of resources. */
  readonly resources: number;
  /** Number of resource templates. */
  readonly resourceTemplates: number;
  /** Number of prompts. */
  readonly prompts: number;
};

/** Result of the effect `subscribe`. */
export type SubscribeOutput = Settled & {
  /** False if the server has nothing to report, so that there is no stream. */
  readonly isOpen: boolean;
};

export interface RetireSessionInput extends SessionKey {
  /** Longest time for its calls to finish. */
  readonly drainMs: number;
  /** Longest time for it to end after that. */
  readonly closeMs: number;
}

/** Time limits of a session in use, in milliseconds. 0 = never. */
export interface WatchLimits {
  /** Silence after which a ping is due. */
  readonly pingIdleMs: number;
  /** Time after which the session counts as stable. */
  readonly stableMs: number;
  /** Time without use after which the session counts as idle. */
  readonly idleStopMs: number;
}

/** Input of the effect `watchSession`. */
export interface WatchSessionInput extends SessionKey, WatchLimits {}

/** Event that the chart sends to the effect `watchSession`. */
export interface WatchSessionEvent {
  /** Always `limits.changed`. */
  readonly type: 'limits.changed';
  /** The new limits. */
  readonly limits: WatchLimits;
}

/** Commands come from people and hosts; each is accepted or rejected, never lost. */
export type ConnectionCommand =
  /** Starts a dormant, failed or stopped connection. */
  | { readonly type: 'connection.start' }
  /** Ends the connection. Each further one skips a step of the shutdown. */
  | {
      readonly type: 'connection.stop';
      /** The reason that the last status gives. */
      readonly reason: StopReason;
    }
  /** Begins a new round of attempts now. */
  | { readonly type: 'connection.retry' }
  /** Replaces the session by a new one. */
  | { readonly type: 'connection.restart' }
  /** Reads every list of the server again. */
  | { readonly type: 'connection.refresh' }
  /** Puts a changed entry in place of the present one. */
  | {
      readonly type: 'connection.reload';
      /** How the new entry reaches the server. */
      readonly transport: TransportKind;
      /** The limits and delays of the new entry. */
      readonly policy: ConnectionPolicy;
      /** True: a lazy server is started, to list its tools with the new entry. */
      readonly wanted: boolean;
    }
  /** Trusts the entry that waits for it. */
  | { readonly type: 'trust.granted' }
  /** Refuses the entry that waits to be trusted. */
  | { readonly type: 'trust.denied' };

/** Facts come from effects, the manager and the watched session. An unexpected one is a diagnostic, not an error. */
export type ConnectionFact =
  /** The manager grants the start: a slot is free, or the retry budget allows it. */
  | { readonly type: 'slot.granted' }
  /** The network gate has opened. */
  | {
      readonly type: 'network.online';
      /** When it happened, milliseconds since the epoch. */
      readonly at: number;
    }
  /** The network gate has closed. */
  | { readonly type: 'network.offline' }
  /** The machine has slept, or its clock was set forward: connections may have broken in the meantime. */
  | { readonly type: 'clock.jumped' }
  /** The numbers of the entry have changed, and nothing that needs another session. */
  | {
      readonly type: 'policy.changed';
      /** The limits and delays from now on. */
      readonly policy: ConnectionPolicy;
    }
  /** A call waits for a session. */
  | {
      readonly type: 'call.waiting';
      /** When the call was made, milliseconds since the epoch. */
      readonly at: number;
    }
  /** The session has ended unasked. */
  | {
      readonly type: 'session.lost';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** Why it ended. */
      readonly failure: Failure;
    }
  /** Exchanges in a row have failed to reach the server. */
  | {
      readonly type: 'session.unreachable';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** How many in a row. */
      readonly count: number;
      /** Why the last one failed. */
      readonly failure: Failure;
    }
  /** The session has lasted long enough to count as stable. */
  | {
      readonly type: 'session.stable';
      /** Number of the session, from 1. */
      readonly generation: number;
    }
  /** The session was not used for `idleStopMs`. */
  | {
      readonly type: 'session.idle';
      /** Number of the session, from 1. */
      readonly generation: number;
    }
  /** The session shows no sign of life, so it must be probed. */
  | {
      readonly type: 'session.quiet';
      /** Number of the session, from 1. */
      readonly generation: number;
    }
  /** The stream of changes has ended. */
  | {
      readonly type: 'subscription.ended';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** When it happened, milliseconds since the epoch. */
      readonly at: number;
    }
  /** The stream of changes should report something else. */
  | {
      readonly type: 'subscription.wanted';
      /** Number of the session, from 1. */
      readonly generation: number;
    }
  /** The server says that its tools have changed. */
  | {
      readonly type: 'catalog.listChanged';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** When it happened, milliseconds since the epoch. */
      readonly at: number;
    }
  /** The server says that another of its lists has changed. */
  | {
      readonly type: 'catalog.extrasChanged';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** When it happened, milliseconds since the epoch. */
      readonly at: number;
      /** Which list. */
      readonly list: ExtraList;
    };

/** Events that one region of the chart raises for the others. */
export type ConnectionSignal =
  /** A successor has taken over; its list of tools is not the catalog yet. */
  | { readonly type: 'catalog.listed' }
  /** The session that was shut down is proven gone. */
  | { readonly type: 'shutdown.closed' }
  /** That session is not proven gone. */
  | { readonly type: 'shutdown.failed' };

/** Every event that the connection chart accepts. */
export type ConnectionEvent = ConnectionCommand | ConnectionFact | ConnectionSignal;

/** Every command, in the order in which they are offered to a person. */
export const CONNECTION_COMMANDS = [
  'connection.start',
  'connection.stop',
  'connection.retry',
  'connection.restart',
  'connection.refresh',
  'connection.reload',
  'trust.granted',
  'trust.denied',
] as const satisfies readonly ConnectionCommand['type'][];

/** What the chart emits besides its states: what happened, and the facts that a status shows. */
export type ConnectionEmitted =
  /** An attempt begins. */
  | {
      readonly type: 'attempting';
      /** Number of the session that it is to open, from 1. */
      readonly generation: number;
      /** How long the entry took to resolve, in milliseconds. */
      readonly configuringMs: number;
    }
  /** The transport is open. */
  | {
      readonly type: 'opened';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** How the server is reached. */
      readonly transport: TransportKind;
      /** Process id of the server; null if it has no process. */
      readonly pid: number | null;
      /** Address of the session, without credentials and query; null if it has none. */
      readonly url: string | null;
      /** How long the attempt waited for its start, in milliseconds. */
      readonly queuedMs: number;
      /** How long opening took, in milliseconds. */
      readonly launchingMs: number;
    }
  /** The server has answered `initialize`. */
  | {
      readonly type: 'initialized';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** What the server said about itself. */
      readonly server: ServerIdentity;
      /** How long the handshake took, in milliseconds. */
      readonly handshakingMs: number;
    }
  /** The tools are read for the first time in this session. */
  | {
      readonly type: 'listed';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** How long reading took, in milliseconds. */
      readonly listingMs: number;
    }
  /** The list of tools is the catalog now. */
  | {
      readonly type: 'adopted';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** Hash of the list. */
      readonly hash: string;
      /** Number of tools, after the entry's filters. */
      readonly tools: number;
    }
  /** Calls are possible. */
  | {
      readonly type: 'ready';
      /** Number of the session, from 1. */
      readonly generation: number;
      /** Since when, milliseconds since the epoch. */
      readonly at: number;
    }
  /** Nothing of the session is alive. */
  | { readonly type: 'released' }
  /** A session that was ready has ended unasked. */
  | {
      readonly type: 'lost';
      /** Why it ended. */
      readonly failure: Failure;
    }
  /** Another attempt is planned. */
  | {
      readonly type: 'retrying';
      /** Number of the coming attempt in its round, from 1. */
      readonly attempt: number;
      /** Attempts in a round: `maxAttempts` of the policy. */
      readonly maxAttempts: number;
      /** Time until the attempt, in milliseconds. */
      readonly delayMs: number;
      /** When it was planned, milliseconds since the epoch. */
      readonly at: number;
      /** Why the attempt before failed; null if none did. */
      readonly failure: Failure | null;
    }
  /** Given up, but retried on a slow timer. */
  | {
      readonly type: 'retryingSlowly';
      /** Time until the attempt, in milliseconds. */
      readonly delayMs: number;
      /** When it was planned, milliseconds since the epoch. */
      readonly at: number;
    }
  /** Given up. */
  | {
      readonly type: 'failed';
      /** Why the last attempt failed. */
      readonly failure: Failure;
      /** Number of the attempt that was the last of the round. */
      readonly attempt: number;
      /** Attempts in a round: `maxAttempts` of the policy. */
      readonly maxAttempts: number;
    }
  /** The entry waits to be trusted. */
  | { readonly type: 'trustRequired' }
  /** The changed entry does not work; the session of the former one stays in use. */
  | {
      readonly type: 'outdated';
      /** Why it does not work. */
      readonly failure: Failure;
    };

/** What a connection reports to its manager. */
export type ConnectionReport =
  /** An attempt waits for its start. */
  | ({
      readonly type: 'child.wantsSlot';
      /** Name of the connection. */
      readonly name: string;
    } & StartClaim)
  /** The start is over or was given up; its slot is free again. */
  | {
      readonly type: 'child.leftStart';
      /** Name of the connection. */
      readonly name: string;
    }
  /** The first attempt is over. */
  | {
      readonly type: 'child.settled';
      /** Name of the connection. */
      readonly name: string;
    };

/** Output of the connection chart, when it has stopped. */
export interface ConnectionOutput {
  /** Name of the connection. */
  readonly name: string;
  /** Why it was stopped. */
  readonly reason: StopReason;
  /** Number of the last session; 0 if there was none. */
  readonly generation: number;
  /** Number of attempts in the last round. */
  readonly attempts: number;
  /** When it stopped, milliseconds since the epoch. */
  readonly at: number;
}
