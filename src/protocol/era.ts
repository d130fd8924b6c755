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
 * The era to ask first. `known`: the verdict on this server, if there is one. Without it the old one:
 * a server of that era may hang, exit or answer with anything if it is asked in the new one.
 */
export function firstEra(choice: ProtocolChoice, carrier: TransportKind, known: Era | undefined): Era {
  if (choice !== 'auto') return choice;
  if (carrier === 'sse') return 'old';
  return known ?? 'old';
}

/**
 * What a failure to open in one era says. `other`: the server speaks the other era. `unclear`: it may, which is asked once
 * and not remembered. `neither`: the other era would not mend it.
 */
export type EraVerdict = 'other' | 'unclear' | 'neither';

export function judgeEra(asked: Era, error: unknown, carrier: TransportKind): EraVerdict {
  if (carrier === 'sse') return 'neither';
  if (error instanceof ProtocolFailure) return byVersions(asked, error);
  if (error instanceof RpcError)
    return asked === 'new' ? byNewError(error.rpcCode) : byOldError(error.rpcCode);
  if (carrier !== 'http' || asked === 'old') return 'neither';
  if (error instanceof LimitOver) return 'unclear';
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

/** MCP 2026-07-28, "Error Codes": header and body differ, and a capability is missing. Only servers of the new era send them. */
const OF_NEW_ERA: ReadonlySet<number> = new Set([-32_020, -32_021]);

function byNewError(code: number): EraVerdict {
  return OF_NEW_ERA.has(code) ? 'neither' : 'other';
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
  const saysNothing = code === 'connection-lost' || code === 'http-not-mcp' || code === 'protocol-error';
  return saysNothing ? 'unclear' : 'neither';
}

function byStatus(status: number): EraVerdict {
  if (status === 408 || status === 425 || status === 429) return 'neither';
  return status === 403 || status >= 500 ? 'unclear' : 'other';
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
// a new one ends when it is refused. Kept for the life of the troupe.

const OLD_LASTS_MS = 24 * 60 * 60 * 1_000;
/** More servers than one troupe has; the oldest verdict is forgotten. */
const MAX_VERDICTS = 1_000;

export class EraVerdicts {
  readonly #verdicts = new Map<string, { readonly era: Era; readonly at: number }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** `server`: what the verdict is of, such as the fingerprint of its entry. */
  get(server: string): Era | undefined {
    const verdict = this.#verdicts.get(server);
    if (verdict === undefined) return undefined;
    const isOver = verdict.era === 'old' && Math.abs(this.clock.now() - verdict.at) >= OLD_LASTS_MS;
    return isOver ? undefined : verdict.era;
  }

  /** An old verdict that is confirmed keeps its age. */
  keep(server: string, era: Era): void {
    if (this.get(server) === era) return;
    this.#verdicts.delete(server);
    this.#verdicts.set(server, { era, at: this.clock.now() });
    if (this.#verdicts.size <= MAX_VERDICTS) return;
    for (const oldest of this.#verdicts.keys()) return void this.#verdicts.delete(oldest);
  }

  forget(server: string): void {
    this.#verdicts.delete(server);
  }
}
