/**
 * Classifies and validates the messages of a server. Pure, and cheap, since messages may be frequent: shapes are
 * checked by hand, because a schema library costs more than the call.
 */
import type { RequestId } from '../mcp/messages.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { paramsWithoutNulls } from './absent-nulls.js';
import { RpcError, type Progress } from './protocol-client.js';

export interface InboundRequest {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

export type Inbound =
  | InboundRequest
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  /** `id` is NaN if it cannot be one of ours. Neither result nor error: it is not valid. */
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly result: JsonObject | undefined;
      readonly error: RpcError | undefined;
    }
  /** `what` repeats nothing of it. */
  | { readonly kind: 'odd'; readonly what: string };

export function toInbound(message: unknown): Inbound {
  if (!isJsonObject(message)) return odd('The server sent something that is not a message.');
  const { id, method } = message;
  if (method === undefined || method === null) return toAnswer(message);
  const params = paramsWithoutNulls(method, message['params']);
  if (id !== undefined && id !== null) {
    const isWhole = isRequestId(id) && typeof method === 'string' && isWithMeta(params);
    return isWhole && Object.keys(message).every((name) => REQUEST_MEMBERS.has(name))
      ? { kind: 'request', id, method, params }
      : odd('The server sent a request that is not valid JSON-RPC.');
  }
  return typeof method === 'string' && isJsonObject(params)
    ? { kind: 'notification', method, params }
    : odd('The server sent a notification that is not valid JSON-RPC.');
}

/** JSON-RPC 2.0 section 4. */
const REQUEST_MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/** A notification that is kept without its optional fields of the wrong type. */
interface Kept {
  /** The names of those fields. */
  readonly flaws: readonly string[];
}

/** MCP specification, "Progress". The token is ours if it is the id of a request. */
export function toProgress(
  params: JsonObject,
): (Kept & { readonly token: RequestId; readonly progress: Progress }) | undefined {
  const { progressToken: token, progress, total, message } = params;
  if (!isRequestId(token) || typeof progress !== 'number') return undefined;
  const flaws: string[] = [];
  const kept = {
    progress,
    total: isNumber(total) ? total : flawed('total', total, flaws),
    message: isText(message) ? message : flawed('message', message, flaws),
  };
  return { token, progress: kept, flaws };
}

/** MCP specification, "Cancellation". */
export function toCancelled(
  params: JsonObject,
): (Kept & { readonly requestId: RequestId | undefined; readonly reason: string | undefined }) | undefined {
  const { requestId, reason } = params;
  if (requestId !== undefined && !isRequestId(requestId)) return undefined;
  const flaws: string[] = [];
  return { requestId, reason: isText(reason) ? reason : flawed('reason', reason, flaws), flaws };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Notes the field, unless it is absent. */
function flawed(field: string, value: unknown, flaws: string[]): undefined {
  if (value !== undefined) flaws.push(field);
}

function toAnswer({ id, result, error }: JsonObject): Extract<Inbound, { kind: 'answer' }> {
  const isBoth = isPresent(result) && isPresent(error);
  return {
    kind: 'answer',
    id: toOwnId(id),
    result: !isBoth && isWithMeta(result) ? result : undefined,
    error: isBoth ? undefined : toRpcError(error),
  };
}

function toRpcError(error: unknown): RpcError | undefined {
  if (!isJsonObject(error)) return undefined;
  const { code, message, data } = error;
  if (!Number.isInteger(code) || typeof message !== 'string') return undefined;
  return new RpcError(code as number, message, data);
}

/** Our ids are numbers. Some servers return them as text, but unchanged: `''` is not 0. */
function toOwnId(id: unknown): number {
  if (typeof id === 'number') return id;
  return typeof id === 'string' && String(Number(id)) === id ? Number(id) : NaN;
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isInteger(value);
}

/** An object whose `_meta`, if present, is an object too (MCP specification, "General fields"). */
function isWithMeta(value: unknown): value is JsonObject {
  return isJsonObject(value) && (!isPresent(value['_meta']) || isJsonObject(value['_meta']));
}

/** `null` counts as absent. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function odd(what: string): Inbound {
  return { kind: 'odd', what };
}
