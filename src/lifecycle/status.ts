/**
 * One row of the status: what a person wants to know about a connection. Plain JSON, derived from the chart's
 * snapshot and the session's last words; holds no secret.
 */
import type { ConnectionContext, PhaseTimings } from '../../machines/connection.events.js';
import type { Failure, ProcessExit } from '../../machines/policy/failure.js';
import type { Implementation, ServerCapabilities } from '../../machines/mcp.js';
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
  readonly trustRequest: TrustRequest | null;
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
  readonly reason: string | null;
  readonly stderrTail: readonly string[];
  readonly trustRequest: TrustRequest | null;
  /** What the runtime knows and the chart could not tell, since its actor died. */
  readonly crash: Failure | null;
}

/** The row of a server that has no actor, or none any more. */
export function restingStatus(facts: StatusFacts, state: ConnectionState): ServerStatus {
  const { crash, ...rest } = facts;
  return {
    ...rest,
    state,
    substate: state === 'failed' ? 'settled' : '',
    resourceCount: 0,
    promptCount: 0,
    serverInfo: null,
    capabilities: null,
    protocolVersion: null,
    instructions: null,
    pid: null,
    url: null,
    attempt: 0,
    nextAttemptAt: null,
    connectedAt: null,
    lastExit: null,
    error: crash,
    authUrl: null,
    timings: NO_TIMINGS,
  };
}

/** The row of a server with an actor. */
export function toStatus(facts: StatusFacts, path: StatePath, context: ConnectionContext): ServerStatus {
  const isWaiting = path.state === 'reconnecting' && path.substate === 'backingOff';
  const { server, failure } = context;
  return {
    ...restingStatus(facts, path.state),
    substate: path.substate,
    transport: context.transport,
    resourceCount: context.counts.resources,
    promptCount: context.counts.prompts,
    serverInfo: server?.info ?? null,
    capabilities: server?.capabilities ?? null,
    protocolVersion: server?.protocolVersion ?? null,
    instructions: server?.instructions ?? null,
    pid: context.pid,
    url: context.url,
    attempt: context.attempt,
    maxAttempts: context.policy.maxAttempts,
    nextAttemptAt: isWaiting ? context.nextAttemptAt : null,
    connectedAt: path.state === 'ready' ? context.readyAt : null,
    lastExit: context.lastExit,
    stderrTail: facts.stderrTail.length > 0 ? facts.stderrTail : (failure?.stderrTail ?? []),
    error: facts.crash ?? failure,
    timings: context.timings,
  };
}
