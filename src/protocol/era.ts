/**
 * The era of the protocol that a server speaks: which one to ask first, what the failure of that says about the other, and what
 * the last handshakes have shown.
 */
import { eraOf, NEW_VERSION, type Era } from '../../machines/policy/protocol-era.js';
import type { ProtocolChoice } from '../config/entry/server-config.js';
import type { TransportKind } from '../transports/session-transport.js';
import { LimitOver } from '../async/timers.js';
import { TransportError, type RawFailure } from '../failures/transport-error.js';
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  ProtocolFailure,
  RequestLostError,
  RpcError,
} from './protocol-client.js';
import type { Clock } from '../ports.js';

/**
 * The era to ask first. `known`: the verdict on this server, if there is one. Without it the new one over HTTP. Otherwise the
 * old one: a program of that era may hang, exit or lock something if it is asked in the new one.
 */
export function firstEra(choice: ProtocolChoice, carrier: TransportKind, known: Era | undefined): Era {
  if (choice !== 'auto') return choice;
  if (carrier === 'sse') return 'old';
  return known ?? (carrier === 'http' ? 'new' : 'old');
}

/**
 * How long a question in the new era may stay unanswered before the other era is asked. `limitMs`: what the handshake may
 * take. A program is asked in the new era first because it was silent or gone in the old one, so it may just be slow.
 */
export function silenceLimit(carrier: TransportKind, limitMs: number): number {
  return carrier === 'http' ? Math.min(limitMs * 0.3, 2_000) : limitMs / 2;
}

/**
 * What a failure to open in one era says. `other`: the server speaks the other era. `unclear`: it may. `neither`: the other
 * era would not mend it.
 */
export type EraVerdict = 'other' | 'unclear' | 'neither';

export function judgeEra(asked: Era, error: unknown, carrier: TransportKind): EraVerdict {
  if (carrier === 'sse') return 'neither';
  if (error instanceof ProtocolFailure) return byVersions(asked, error);
  if (error instanceof RpcError)
    return asked === 'new' ? byNewError(error.rpcCode) : byOldError(error.rpcCode);
  if (asked === 'old') return 'neither';
  if (error instanceof LimitOver) return 'unclear';
  if (carrier !== 'http') return 'neither';
  if (error instanceof RequestLostError || error instanceof TransportError) return byFailure(error.failure);
  return 'neither';
}

function byVersions(asked: Era, { failure, versions }: ProtocolFailure): EraVerdict {
  if (failure.code !== 'protocol-version') return asked === 'new' ? 'other' : 'neither';
  // The same version that was refused, or none: the server contradicts itself, or does not say.
  if (versions.length === 0 || (asked === 'new' && versions.includes(NEW_VERSION))) return 'unclear';
  if (asked === 'old') return versions.includes(NEW_VERSION) ? 'other' : 'neither';
  return versions.some((version) => eraOf(version) === 'old') ? 'other' : 'neither';
}

/**
 * MCP 2026-07-28, "Error Codes": header and body differ, and a capability is missing. A server that sends them knows the new
 * era, and may serve this client in the old one all the same.
 */
const OF_NEW_ERA: ReadonlySet<number> = new Set([-32_020, -32_021]);

function byNewError(code: number): EraVerdict {
  return OF_NEW_ERA.has(code) ? 'unclear' : 'other';
}

/** What a server that has no `initialize`, or misses the `_meta` of the new era, may answer. */
const MAY_BE_NEW: ReadonlySet<number> = new Set([
  ...OF_NEW_ERA,
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  INVALID_REQUEST,
]);

function byOldError(code: number): EraVerdict {
  return MAY_BE_NEW.has(code) ? 'unclear' : 'neither';
}

/** No JSON-RPC answer came to the question in the new era. */
function byFailure({ code, http }: RawFailure): EraVerdict {
  if (code === 'http-status' && http !== undefined) return byStatus(http.status);
  return SAYS_NOTHING.has(code) ? 'unclear' : 'neither';
}

/** Some servers want a sign-in for everything but `initialize` and their lists. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  'connection-lost',
  'http-not-mcp',
  'protocol-error',
  'auth-required',
]);

function byStatus(status: number): EraVerdict {
  if (status === 408 || status === 425 || status === 429) return 'neither';
  return status === 403 || status >= 500 ? 'unclear' : 'other';
}

/**
 * The verdict on a program that was silent or gone when it was asked in an era, for the next try: programs exist that do not
 * answer a question in the wrong era, or exit. Undefined: as without a verdict.
 */
export function eraAfterSilence(asked: Era, known: Era | undefined): Era | undefined {
  return asked === 'old' ? (known ?? 'new') : undefined;
}

/**
 * Whether a failed handshake leaves the verdict on its server in doubt. A server that cannot be reached, or wants a sign-in,
 * has said nothing about it.
 */
export function disprovesEra({ code, http }: RawFailure): boolean {
  if (code === 'http-status') return http !== undefined && http.status < 500 && http.status !== 429;
  return ['protocol-version', 'protocol-error', 'server-error', 'http-not-mcp'].includes(code);
}

// Which era each server speaks, as its last handshake showed. An old verdict ends after a day, because servers are updated;
// a new one ends when it is refused. Kept for the life of the troupe, and with the cached lists of a server for the next one.

const OLD_LASTS_MS = 24 * 60 * 60 * 1_000;
/** More servers than one troupe has; the oldest verdict is forgotten. */
const MAX_VERDICTS = 1_000;

/** `since`: milliseconds since the epoch. The same object until it changes. */
export interface Verdict {
  readonly era: Era;
  readonly since: number;
}

export class EraVerdicts {
  /** Undefined: there is none, and one of an earlier run does not count. */
  readonly #verdicts = new Map<string, Verdict | undefined>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** `server`: what the verdict is of, such as the fingerprint of its entry. */
  get(server: string): Verdict | undefined {
    const verdict = this.#verdicts.get(server);
    if (verdict === undefined) return undefined;
    const isOver = verdict.era === 'old' && Math.abs(this.clock.now() - verdict.since) >= OLD_LASTS_MS;
    return isOver ? undefined : verdict;
  }

  /** Takes over the verdict of an earlier run, unless this run has shown something. */
  restore(server: string, verdict: Verdict | undefined): void {
    if (verdict !== undefined && !this.#verdicts.has(server)) this.#put(server, verdict);
  }

  /** An old verdict that is confirmed keeps its age. Without an era, there is no verdict from then on. */
  keep(server: string, era: Era | undefined): void {
    if (this.#verdicts.has(server) && this.get(server)?.era === era) return;
    this.#put(server, era === undefined ? undefined : { era, since: this.clock.now() });
  }

  #put(server: string, verdict: Verdict | undefined): void {
    this.#verdicts.delete(server);
    this.#verdicts.set(server, verdict);
    if (this.#verdicts.size <= MAX_VERDICTS) return;
    for (const oldest of this.#verdicts.keys()) return void this.#verdicts.delete(oldest);
  }
}
