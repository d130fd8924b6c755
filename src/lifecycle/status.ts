/**
 * One row of the status: what a person wants to know about a connection. Plain JSON, derived from the chart's
 * snapshot and the session's last words; holds no secret.
 */
import type { ConnectionContext, PhaseTimings } from '../../machines/connection.events.js';
import type { Failure, ProcessExit } from '../../machines/policy/failure.js';
import type { Implementation, ServerCapabilities } from '../../machines/mcp.js';
import type { ExtraCounts } from '../catalog/extras.js';
import type { TrustRequest } from '../options.js';
import type { ConnectionState } from './event.js';
import type { StatePath } from './state-path.js';

export interface ServerStatus {
  readonly name: string;
  readonly state: ConnectionState;
  /** Path below the state; regions joined by `+`. */
  readonly substate: string;
  /** Why a stopped server is stopped: `disabled`, `stop`, `remove`, `close`; null elsewhere. */
  readonly reason: string | null;
  /** The file, or `options`, that names the server. */
  readonly source: string;
  readonly transport: 'stdio' | 'http' | 'sse' | 'in-process';
  /** Tools that are shown, after the entry's filters. */
  readonly toolCount: number;
  readonly resourceCount: number;
  readonly promptCount: number;
  readonly serverInfo: Implementation | null;
  readonly capabilities: ServerCapabilities | null;
  readonly protocolVersion: string | null;
  readonly instructions: string | null;
  readonly pid: number | null;
  /** Address without credentials and query. */
  readonly url: string | null;
  /** Number of the present or last session; 0 before the first. */
  readonly generation: number;
  /** Number of the present or last attempt of this round, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Milliseconds since the epoch; null where no try is planned. */
  readonly nextAttemptAt: number | null;
  readonly connectedAt: number | null;
  readonly lastExit: ProcessExit | null;
  readonly stderrTail: readonly string[];
  readonly error: Failure | null;
  /** Why it is ready by the entry before the last reload: a session by the present one could not be made. */
  readonly outdated: Failure | null;
  readonly trustRequest: TrustRequest | null;
  /** Where a person can sign in now; null where nobody is asked, or nobody can be. */
  readonly authUrl: string | null;
  readonly timings: PhaseTimings;
}

const NO_TIMINGS: PhaseTimings = {
  configuringMs: null,
  queuedMs: null,
  launchingMs: null,
  handshakingMs: null,
  listingMs: null,
};

export interface StatusFacts {
  readonly name: string;
  readonly source: string;
  readonly transport: ServerStatus['transport'];
  readonly generation: number;
  readonly maxAttempts: number;
  readonly toolCount: number;
  readonly extras: ExtraCounts;
  readonly reason: string | null;
  readonly stderrTail: readonly string[];
  readonly trustRequest: TrustRequest | null;
  readonly authUrl: string | null;
  /** What the runtime knows and the chart could not tell, since its actor died. */
  readonly crash: Failure | null;
}

/**
 * The row of a server; without a context where it has no actor, or none that can say anything any more.
 *
 * Every field is written out: rows are made for every batch of events, and copying objects costs fifty times as much.
 */
export function toStatus(facts: StatusFacts, path: StatePath, context?: ConnectionContext): ServerStatus {
  const isRetryingSlowly = path.substate === 'retryingSlowly' && context?.online === true;
  const isWaiting = isRetryingSlowly || path.substate === 'backingOff';
  const failure = context?.failure ?? null;
  const server = context?.server ?? null;
  return {
    name: facts.name,
    state: path.state,
    substate: path.substate,
    reason: facts.reason,
    source: facts.source,
    transport: context?.transport ?? facts.transport,
    toolCount: facts.toolCount,
    resourceCount: facts.extras.resources,
    promptCount: facts.extras.prompts,
    serverInfo: server?.info ?? null,
    capabilities: server?.capabilities ?? null,
    protocolVersion: server?.protocolVersion ?? null,
    instructions: server?.instructions ?? null,
    pid: context?.pid ?? null,
    url: context?.url ?? null,
    generation: facts.generation,
    attempt: context?.attempt ?? 0,
    maxAttempts: facts.maxAttempts,
    nextAttemptAt: isWaiting ? (context?.nextAttemptAt ?? null) : null,
    connectedAt: path.state === 'ready' ? (context?.readyAt ?? null) : null,
    lastExit: context?.lastExit ?? null,
    stderrTail: facts.stderrTail.length > 0 ? facts.stderrTail : (failure?.stderrTail ?? []),
    error: facts.crash ?? failure,
    outdated: path.state === 'ready' ? (context?.outdated ?? null) : null,
    trustRequest: facts.trustRequest,
    authUrl: facts.authUrl,
    timings: context?.timings ?? NO_TIMINGS,
  };
}
