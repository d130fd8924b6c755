/**
 * What a request without a session says about itself in `_meta`, and what its answer says (MCP 2026-07-28, "General
 * fields"). Pure.
 */
import type { Implementation, LoggingLevel } from '../../mcp/session.js';
import { NEW_VERSION } from '../../../machines/policy/protocol-era.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import { isQuestion, RpcError } from '../../protocol/protocol-client.js';
import { META_PREFIX } from '../../protocol/server-identity.js';
import { LOG_LEVELS } from '../../requests/connection-requests.js';
import { cutText } from '../../text/visible-text.js';
import { UNSUPPORTED_PROTOCOL_VERSION } from '../../transports/json-rpc.js';
import { answersOf, type Answers } from '../upstream/client-capabilities.js';
import { invalidParams } from './error-answer.js';

const VERSION = `${META_PREFIX}protocolVersion`;
const CAPABILITIES = `${META_PREFIX}clientCapabilities`;
const LOG_LEVEL = `${META_PREFIX}logLevel`;
const SERVER_INFO = `${META_PREFIX}serverInfo`;
/** What the client says to its server alone: each server gets what the gateway says in its place. */
const OF_ONE_HOP: ReadonlySet<string> = new Set([
  VERSION,
  CAPABILITIES,
  LOG_LEVEL,
  `${META_PREFIX}clientInfo`,
]);

export const DISCOVER = 'server/discover';
export const LISTEN = 'subscriptions/listen';

/** The methods of the new era, and whether their results say how long they may be kept. */
const METHODS: Readonly<Record<string, boolean>> = {
  [DISCOVER]: true,
  [LISTEN]: false,
  'tools/list': true,
  'tools/call': false,
  'resources/list': true,
  'resources/templates/list': true,
  'resources/read': true,
  'prompts/list': true,
  'prompts/get': false,
  'completion/complete': false,
};

/** What a request says about itself. */
export interface Envelope {
  /** The requests of servers that the client answers. */
  readonly answers: Answers;
  /** The lowest level of log messages that it wants; undefined if it wants none. */
  readonly logLevel: LoggingLevel | undefined;
}

export function isStatelessMethod(method: string): boolean {
  return Object.hasOwn(METHODS, method);
}

/** The version in `_meta`; undefined if there is none, as in a request of a session. */
export function versionIn({ _meta: meta }: JsonObject): unknown {
  return isJsonObject(meta) ? meta[VERSION] : undefined;
}

/** Why the request cannot be served, whatever its method; undefined if it can. */
export function flawOfEnvelope(params: JsonObject): RpcError | undefined {
  const version = versionIn(params);
  if (typeof version !== 'string') return invalidParams(`'_meta' has no '${VERSION}'`);
  if (version !== NEW_VERSION) {
    const requested = cutText(version, 100);
    const message = `Without a session, only protocol version ${NEW_VERSION} is supported.`;
    return new RpcError(UNSUPPORTED_PROTOCOL_VERSION, message, { supported: [NEW_VERSION], requested });
  }
  const meta = params['_meta'] as JsonObject;
  if (!isJsonObject(meta[CAPABILITIES])) return invalidParams(`'_meta' has no object '${CAPABILITIES}'`);
  const level = meta[LOG_LEVEL];
  if (level === undefined || LOG_LEVELS.includes(level as LoggingLevel)) return undefined;
  return invalidParams(`'${LOG_LEVEL}' must be one of ${LOG_LEVELS.join(', ')}`);
}

/** Throws an `RpcError` if there is a flaw. */
export function envelopeOf(params: JsonObject): Envelope {
  const flaw = flawOfEnvelope(params);
  if (flaw !== undefined) throw flaw;
  const meta = params['_meta'] as JsonObject;
  return { answers: answersOf(meta[CAPABILITIES]), logLevel: meta[LOG_LEVEL] as LoggingLevel | undefined };
}

/** The part of a client's `_meta` that is for the server behind the gateway; undefined if nothing is. */
export function metaForServer(meta: JsonObject): JsonObject | undefined {
  const kept = Object.entries(meta).filter(([key]) => key !== 'progressToken' && !OF_ONE_HOP.has(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The result for a client without a session. A server of the old era does not say how long its results are good for. */
export function toStatelessResult(method: string, result: JsonObject, info: Implementation): JsonObject {
  const { _meta: meta } = result;
  const isKept = METHODS[method] === true && !isQuestion(result);
  return {
    ...(isKept && { ttlMs: 0, cacheScope: 'private' }),
    resultType: 'complete',
    ...result,
    _meta: { ...(isJsonObject(meta) && meta), [SERVER_INFO]: info },
  };
}

/** The result for a client with a session: without what only the new era has. */
export function toSessionResult(result: JsonObject): JsonObject {
  if (result['resultType'] === undefined) return result;
  const { resultType: _r, ttlMs: _t, cacheScope: _c, _meta: meta, ...rest } = result;
  if (!isJsonObject(meta)) return rest;
  const { [SERVER_INFO]: _, ...others } = meta;
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
}

/** `_meta` of a notification on the stream of changes. */
export function subscriptionMeta(id: string | number): JsonObject {
  return { [`${META_PREFIX}subscriptionId`]: id };
}
