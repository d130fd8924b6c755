/**
 * What enters and leaves the connection machine: input, context, events, effect inputs and outputs, emitted events.
 * All of it is plain JSON. Live things (transports, clients, processes) are named by connection and generation only.
 */
import type { Implementation, ServerCapabilities } from './mcp.js';
import type { Failure, ProcessExit } from './policy/failure.js';
import type { ConnectionPolicy } from './policy/policy.js';
import type { StartClaim } from './policy/start-queue.js';

export type TransportKind = 'stdio' | 'http' | 'sse' | 'in-process';

/** Why a connection is shutting down, and so what comes after. */
export type StopIntent = 'stop' | 'remove' | 'close' | 'restart' | 'reload' | 'idle';

export interface ConnectionInput {
  readonly name: string;
  readonly transport: TransportKind;
  readonly policy: ConnectionPolicy;
  /** Seed of this connection's jitter. */
  readonly seed: number;
  /** Last generation that an earlier incarnation gave out; 0 for the first. */
  readonly generation: number;
  /** False while the network gate is closed. */
  readonly online: boolean;
  /** True where a start was asked for, so that a lazy connection does not rest. */
  readonly wanted: boolean;
  /** Its tools were known when it was spawned, from a cache: the start of a troupe does not wait for it. */
  readonly cached: boolean;
}

/** Who the server says it is. */
export interface ServerIdentity {
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
  readonly instructions: string | null;
}

export interface CatalogCounts {
  readonly tools: number;
  readonly resources: number;
  readonly resourceTemplates: number;
  readonly prompts: number;
}

/** A list of a server beside its tools, as it says that it has changed: that of resources is for their templates too. */
export type ExtraList = 'resources' | 'prompts';

/** What is read of the lists beside the tools. */
export interface ExtrasPlan {
  /** Being read, or read last. */
  readonly listing: readonly ExtraList[];
  /** Told to have changed since that began. */
  readonly due: readonly ExtraList[];
  /** When the first of these was told; null where none is. */
  readonly dueSince: number | null;
}

/** Milliseconds spent in each part of the latest attempt; null where it has not come to that. */
export interface PhaseTimings {
  readonly configuringMs: number | null;
  readonly queuedMs: number | null;
  readonly launchingMs: number | null;
  readonly handshakingMs: number | null;
  readonly listingMs: number | null;
}

/** What an entry comes to, as far as a chart needs it. */
export interface EntryTerms {
  readonly transport: TransportKind;
  readonly policy: ConnectionPolicy;
}

export interface ConnectionContext extends ConnectionInput {
  readonly intent: StopIntent | null;
  /** Last generation that was given out: that of the session in use, or of one that was prepared beside it. */
  readonly issued: number;
  /** The entry as it is now, where the session in use is still that of the entry before. */
  readonly next: EntryTerms | null;
  /** Why the session in use is still that of the entry before. */
  readonly outdated: Failure | null;
  /** The session that the one in use has replaced, while its last calls may finish. */
  readonly retiring: number | null;
  /** No session of this connection can be alive: none was begun, or the last one was proven gone. */
  readonly released: boolean;
  /** The manager has been told that the first attempt is over. */
  readonly reportedSettled: boolean;
  /** The coming attempt, or the one under way, is the runtime's own idea: no person and no host asked for it. */
  readonly unasked: boolean;
  /** Number of the attempt under way or last made in this round, from 1; 0 before the first. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly nextAttemptAt: number | null;
  /** Times of recent losses, for the restart intensity. */
  readonly losses: readonly number[];
  readonly configHash: string | null;
  /** Time of the last effect that settled; the clock of the machine. */
  readonly at: number;
  readonly readyAt: number | null;
  readonly pid: number | null;
  readonly url: string | null;
  readonly server: ServerIdentity | null;
  readonly counts: CatalogCounts;
  readonly catalogHash: string | null;
  readonly failure: Failure | null;
  readonly lastExit: ProcessExit | null;
  /** First `list_changed` that the coming refresh answers. */
  readonly listChangedAt: number | null;
  readonly extras: ExtrasPlan;
  readonly timings: PhaseTimings;
}

/** Added to every effect's output: when it began and when it settled, milliseconds since the epoch. */
export interface Settled {
  readonly startedAt: number;
  readonly at: number;
}

/** What the work of an effect gives, before its times are added. */
export type Unsettled<T> = T extends Settled ? Omit<T, keyof Settled> : never;

/** Names the session an effect works on. */
export interface SessionKey {
  readonly name: string;
  readonly generation: number;
}

export interface BoundedSessionInput extends SessionKey {
  /** Milliseconds after which the effect is over whatever it does; 0 = no limit. */
  readonly limitMs: number;
}

export interface ResolveConfigInput {
  readonly name: string;
  readonly wanted: boolean;
}

export type ResolveConfigOutput = Settled &
  ({ readonly kind: 'untrusted' | 'dormant' } | { readonly kind: 'resolved'; readonly hash: string });

export type OpenTransportOutput = Settled & {
  readonly transport: TransportKind;
  readonly pid: number | null;
  readonly url: string | null;
};

export type HandshakeOutput = Settled & { readonly server: ServerIdentity };

export type ListToolsOutput = Settled & { readonly hash: string; readonly tools: number };

export interface EnrichCatalogInput extends BoundedSessionInput {
  readonly lists: readonly ExtraList[];
}

/** How many there are of each, also of what was not read again. */
export type EnrichCatalogOutput = Settled & {
  readonly resources: number;
  readonly resourceTemplates: number;
  readonly prompts: number;
};

/** A session that is prepared beside the one in use. */
export interface PrepareSessionInput extends SessionKey {
  /** The generation in use. */
  readonly besides: number;
  /** Longest time for whatever else is left of the connection to end. */
  readonly releaseMs: number;
  readonly launchMs: number;
  readonly handshakeMs: number;
  readonly listMs: number;
}

/** What is known of a session that can be used. */
export interface PreparedSession {
  readonly configHash: string;
  readonly transport: TransportKind;
  readonly pid: number | null;
  readonly url: string | null;
  readonly server: ServerIdentity;
  readonly catalogHash: string;
  readonly tools: number;
  readonly timings: PhaseTimings;
}

export type PrepareSessionOutput = Settled &
  ({ readonly kind: 'untrusted' } | ({ readonly kind: 'prepared' } & PreparedSession));

export interface RetireSessionInput extends SessionKey {
  /** The generation in use. */
  readonly besides: number;
  /** Longest time for its calls to finish. */
  readonly drainMs: number;
  /** Longest time for it to end after that. */
  readonly closeMs: number;
}

export interface WatchSessionInput extends SessionKey {
  /** Silence after which a ping is due; 0 = never. */
  readonly pingIdleMs: number;
  readonly stableMs: number;
  readonly idleStopMs: number;
}

/** Commands come from people and hosts; each is accepted or rejected, never lost. */
export type ConnectionCommand =
  | { readonly type: 'connection.start' }
  | { readonly type: 'connection.stop'; readonly reason: 'stop' | 'remove' | 'close' }
  | { readonly type: 'connection.retry' }
  | { readonly type: 'connection.restart' }
  | { readonly type: 'connection.refresh' }
  | {
      readonly type: 'connection.reload';
      readonly transport: TransportKind;
      readonly policy: ConnectionPolicy;
    }
  | { readonly type: 'trust.granted' }
  | { readonly type: 'trust.denied' };

/** Facts come from effects, the manager and the watched session. One that nobody wants is a diagnostic, not an error. */
export type ConnectionFact =
  | { readonly type: 'slot.granted' }
  | { readonly type: 'network.online'; readonly at: number }
  | { readonly type: 'network.offline' }
  /** The machine has slept, or its clock was set forward: what was alive may be so no more. */
  | { readonly type: 'clock.jumped' }
  /** The entry says other numbers than before, and nothing that needs another session. */
  | { readonly type: 'policy.changed'; readonly policy: ConnectionPolicy }
  /** A call wants a connection that has given up. */
  | { readonly type: 'call.waiting'; readonly at: number }
  | { readonly type: 'session.lost'; readonly generation: number; readonly failure: Failure }
  | { readonly type: 'session.stable'; readonly generation: number }
  | { readonly type: 'session.idle'; readonly generation: number }
  | { readonly type: 'session.quiet'; readonly generation: number }
  | { readonly type: 'catalog.listChanged'; readonly generation: number; readonly at: number }
  | {
      readonly type: 'catalog.extrasChanged';
      readonly generation: number;
      readonly at: number;
      readonly list: ExtraList;
    };

export type ConnectionEvent = ConnectionCommand | ConnectionFact;

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

/** What the chart tells the publisher beside its states. */
export type ConnectionEmitted =
  | { readonly type: 'ready'; readonly toolCount: number }
  | { readonly type: 'lost'; readonly failure: Failure }
  | {
      readonly type: 'retrying';
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly delayMs: number;
      readonly failure: Failure | null;
    }
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly attempt: number;
      readonly maxAttempts: number;
    }
  | { readonly type: 'trustRequired' }
  | { readonly type: 'authRequired' }
  | { readonly type: 'outdated'; readonly failure: Failure };

/** What a connection tells its manager. */
export type ConnectionReport =
  | ({ readonly type: 'child.wantsSlot'; readonly name: string } & StartClaim)
  | { readonly type: 'child.leftStart'; readonly name: string }
  | { readonly type: 'child.settled'; readonly name: string; readonly cached: boolean };

/** The last word of a connection. */
export interface ConnectionOutput {
  readonly name: string;
  readonly reason: StopIntent;
  readonly generation: number;
  readonly attempts: number;
  readonly readyAt: number | null;
  readonly at: number;
}

export type ConnectionTag = 'settled' | 'usable' | 'waitingForPerson';
