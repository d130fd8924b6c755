/**
 * One row of the status: what a person wants to know about a connection. Plain JSON, derived from the chart's snapshot and
 * the last output of the session; holds no secret.
 */
import type { ConnectionContext, StopReason } from '../../machines/connection/connection.events.js';
import {
  hasTag,
  type ConnectionState,
  type ConnectionTag,
  type PublicState,
} from '../../machines/connection/connection.states.js';
import { attemptLimit } from '../../machines/connection/connection.update.js';
import type { Failure, ProcessExit } from '../../machines/policy/failure.js';
import type { Implementation, ServerCapabilities } from '../../machines/mcp.js';
import type { TrustRequest } from '../trust/trust-request.js';
import type { PhaseTimings, StatusDetails } from './status-details.js';

/** Why a server is stopped: its entry says so, someone stopped it or removed it, or the troupe was closed. */
export type StoppedReason = StopReason | 'disabled';

/** A tool that a server lists but that is not offered, because its entry cannot be used. */
export interface LeftOutTool {
  /** The name that it would have for the model; null if it has no name. */
  readonly name: string | null;
  /** The server's own name for it; null if it has none, or for all tools of the pages of a list that were not read. */
  readonly tool: string | null;
  /** Why, as the end of a sentence: "its inputSchema is not an object". */
  readonly why: string;
}

/** What is known of a server now: one row of `troupe.status`. Plain JSON; holds no secret. */
export interface ServerStatus {
  /** Name of the server in the configuration. */
  readonly server: string;
  /** State of its connection; `stopped` if it was never started. */
  readonly state: ConnectionState;
  /** For people: the path below the state; steps joined by `.`, regions by `+`. Programs use `tags`. */
  readonly substate: string;
  /** What the state means, for programs: see `ConnectionTag`. */
  readonly tags: readonly ConnectionTag[];
  /** Why a stopped server is stopped; null in any other state. */
  readonly reason: StoppedReason | null;
  /** The file, or `options`, that names the server. */
  readonly source: string;
  /** How the server is reached. An `http` server that only speaks the older protocol is `sse` once it is known. */
  readonly transport: 'stdio' | 'http' | 'sse' | 'in-process';
  /** Tools that are shown, after the entry's filters. */
  readonly toolCount: number;
  /** Tools that the server lists but that cannot be offered: their entries are invalid, repeat a name, or exceed a limit. */
  readonly toolsLeftOut: readonly LeftOutTool[];
  /** Resources that the server has listed; 0 before they are read. */
  readonly resourceCount: number;
  /** Prompts that the server has listed; 0 before they are read. */
  readonly promptCount: number;
  /** Name and version from `initialize`; null before. */
  readonly serverInfo: Implementation | null;
  /** What the server declared in `initialize`; null before. */
  readonly capabilities: ServerCapabilities | null;
  /** Version of MCP that was agreed on, for instance `2025-11-25`; null before. */
  readonly protocolVersion: string | null;
  /** The server's own instructions for its use, from `initialize`; null if it gave none. Untrusted text. */
  readonly instructions: string | null;
  /** Process id; null if there is no process. */
  readonly pid: number | null;
  /** Address without credentials and query. */
  readonly url: string | null;
  /** Number of the present or last session; 0 before the first. */
  readonly generation: number;
  /** Number of the present or last attempt of this round, from 1. */
  readonly attempt: number;
  /** Attempts in a round: `maxAttempts` or `maxAttemptsOnceReady` of the policy. */
  readonly maxAttempts: number;
  /** Milliseconds since the epoch; null if no attempt is planned. */
  readonly nextAttemptAt: number | null;
  /** When the session became ready, milliseconds since the epoch; null if none is in use. */
  readonly connectedAt: number | null;
  /** How the last process of the server ended; null if none has. */
  readonly lastExit: ProcessExit | null;
  /** The last lines the server wrote to stderr. */
  readonly stderrTail: readonly string[];
  /** Why the connection failed or waits; null if nothing is wrong. */
  readonly error: Failure | null;
  /** Why its session still belongs to the entry before the last reload: none could be opened for the present entry. */
  readonly outdated: Failure | null;
  /** What a person is asked to trust; null if nothing. */
  readonly trustRequest: TrustRequest | null;
  /** Where a person can sign in now; null if nobody is asked. */
  readonly authUrl: string | null;
  /** How long the parts of the latest attempt took. */
  readonly timings: PhaseTimings;
}

export interface StatusFacts {
  readonly server: string;
  readonly source: string;
  readonly transport: ServerStatus['transport'];
  readonly generation: number;
  readonly toolCount: number;
  readonly toolsLeftOut: readonly LeftOutTool[];
  readonly extras: ExtraCounts;
  readonly reason: StoppedReason | null;
  readonly stderrTail: readonly string[];
  readonly trustRequest: TrustRequest | null;
  readonly authUrl: string | null;
}

const NO_LINES: readonly string[] = [];

/**
 * The row of a server; without a context if it has never had an actor.
 *
 * Every field is written out: rows are made for every batch of events, and copying objects costs fifty times as much.
 */
export function toStatus(
  facts: StatusFacts,
  present: PublicState,
  details: StatusDetails,
  context?: ConnectionContext,
): ServerStatus {
  const isRetryingSlowly = hasTag(present, 'retryingSlowly') && context?.online === true;
  const isWaiting = isRetryingSlowly || hasTag(present, 'backingOff');
  const isUsable = hasTag(present, 'usable');
  const failure = context?.failure ?? null;
  const { server } = details;
  return {
    server: facts.server,
    state: present.state,
    substate: present.substate,
    tags: present.tags,
    reason: facts.reason,
    source: facts.source,
    transport: details.transport ?? context?.transport ?? facts.transport,
    toolCount: facts.toolCount,
    toolsLeftOut: facts.toolsLeftOut,
    resourceCount: facts.extras.resources,
    promptCount: facts.extras.prompts,
    serverInfo: server?.info ?? null,
    capabilities: server?.capabilities ?? null,
    protocolVersion: server?.protocolVersion ?? null,
    instructions: server?.instructions ?? null,
    pid: details.pid,
    url: details.url,
    generation: facts.generation,
    attempt: context?.attempt ?? 0,
    maxAttempts: context === undefined ? 0 : attemptLimit(context),
    nextAttemptAt: isWaiting ? details.nextAttemptAt : null,
    connectedAt: isUsable ? details.connectedAt : null,
    lastExit: details.lastExit,
    stderrTail: facts.stderrTail.length > 0 ? facts.stderrTail : (failure?.stderrTail ?? NO_LINES),
    error: failure,
    outdated: isUsable ? details.outdated : null,
    trustRequest: facts.trustRequest,
    authUrl: facts.authUrl,
    timings: details.timings,
  };
}

/** The number of items in each list other than the tools. */
export interface ExtraCounts {
  readonly resources: number;
  readonly resourceTemplates: number;
  readonly prompts: number;
}
