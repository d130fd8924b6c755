/**
 * Reads the values of a log that its format does not check: contexts, status details, outputs of effects and notes. Anybody
 * may have written them, so a value of another shape counts as absent. Nothing here throws. Runs in a browser.
 */
import type { ConnectionContext, ServerIdentity } from '../../../machines/connection/connection.events.js';
import { toFailure, type Failure } from '../../../machines/policy/failure.js';
import type { PhaseTimings, SessionDetails, StatusDetails } from '../../lifecycle/status-details.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import { textOf } from './entry.js';

/** No list of a server is longer. A longer count would only exhaust memory. */
const MOST = 100_000;
const TRANSPORTS = ['stdio', 'http', 'sse', 'in-process'] as const;

export function numberOf<T>(value: unknown, otherwise: T): number | T {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

/** A number of items; 0 for anything else. */
export function countOf(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.min(Math.max(0, value as number), MOST) : 0;
}

/** A whole number of any size, such as a generation; 0 for anything else. */
export function wholeOf(value: unknown): number {
  return Number.isSafeInteger(value) ? (value as number) : 0;
}

/** Undefined if there is none. A record of another shape is read as an internal failure. */
export function failureOf(value: unknown): Failure | undefined {
  return isJsonObject(value) ? toFailure(value) : undefined;
}

/** The fields of a connection's context that people are shown. */
export interface ShownContext {
  readonly transport: StatusDetails['transport'];
  readonly generation: number;
  readonly attempt: number;
  /** Attempts in a round; undefined if the policy is unknown. */
  readonly maxAttempts: number | undefined;
  readonly failure: Failure | undefined;
}

export function contextOf(context: JsonObject): ShownContext {
  const { transport, generation, attempt, failure } = context;
  return {
    transport: transportOf(transport),
    generation: wholeOf(generation),
    attempt: wholeOf(attempt),
    maxAttempts: limitOf(context),
    failure: failureOf(failure),
  };
}

function limitOf({
  policy,
  provenUrl,
}: Partial<Record<keyof ConnectionContext, unknown>>): number | undefined {
  if (!isJsonObject(policy)) return undefined;
  const { maxAttempts, maxAttemptsOnceReady } = policy;
  const usual = numberOf(maxAttempts, undefined);
  return typeof provenUrl === 'string' ? numberOf(maxAttemptsOnceReady, usual) : usual;
}

export function detailsOf(details: unknown): StatusDetails | undefined {
  if (!isJsonObject(details)) return undefined;
  const { catalogHash, tools, connectedAt, nextAttemptAt, lastExit, outdated, successor } = details;
  return {
    ...sessionOf(details),
    catalogHash: textOrNull(catalogHash),
    tools: countOf(tools),
    connectedAt: numberOf(connectedAt, null),
    nextAttemptAt: numberOf(nextAttemptAt, null),
    lastExit: isJsonObject(lastExit)
      ? { code: numberOf(lastExit['code'], null), signal: textOrNull(lastExit['signal']) }
      : null,
    outdated: failureOf(outdated) ?? null,
    successor: isJsonObject(successor) ? sessionOf(successor) : null,
  };
}

function sessionOf({ transport, pid, url, server, timings }: JsonObject): SessionDetails {
  return {
    transport: transportOf(transport),
    pid: numberOf(pid, null),
    url: textOrNull(url),
    server: identityOf(server) ?? null,
    timings: timingsOf(isJsonObject(timings) ? timings : {}),
  };
}

/** Undefined if it is not one. */
export function identityOf(value: unknown): ServerIdentity | undefined {
  if (!isJsonObject(value) || !isJsonObject(value['info'])) return undefined;
  const { info, capabilities, protocolVersion, instructions } = value;
  return {
    ...value,
    info: { ...info, name: textOf(info['name']), version: textOf(info['version']) },
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    protocolVersion: textOf(protocolVersion),
    instructions: textOrNull(instructions),
  };
}

function timingsOf(timings: Partial<Record<keyof PhaseTimings, unknown>>): PhaseTimings {
  return {
    configuringMs: numberOf(timings.configuringMs, null),
    queuedMs: numberOf(timings.queuedMs, null),
    launchingMs: numberOf(timings.launchingMs, null),
    handshakingMs: numberOf(timings.handshakingMs, null),
    listingMs: numberOf(timings.listingMs, null),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function transportOf(value: unknown): StatusDetails['transport'] {
  return TRANSPORTS.find((transport) => transport === value) ?? null;
}
