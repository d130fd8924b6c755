/**
 * Classifies a message of a client by its shape alone (JSON-RPC 2.0, as MCP narrows it: an id is a text or a number,
 * and `params` is an object). Pure.
 *
 * C1. An invalid message gets an error that says what is wrong with it, under its own id if it has one.
 * C2. A message without a method is not answered under its id: that id is one of ours.
 */
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from '../../mcp/messages.js';
import { isJsonObject } from '../../json/json-object.js';
import { writeJson } from '../../json/write-json.js';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  type RpcError,
} from '../../protocol/protocol-client.js';

/** JSON-RPC 2.0, section 5.1; the last one is from the range for implementations. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: METHOD_NOT_FOUND,
  invalidParams: INVALID_PARAMS,
  internalError: INTERNAL_ERROR,
  serverError: -32000,
} as const;

/** An error for a message whose id may have been unreadable. */
export interface RpcErrorAnswer {
  readonly jsonrpc: '2.0';
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string; readonly data?: object };
}

export type ClientMessage =
  | { readonly kind: 'request'; readonly message: JSONRPCRequest }
  | { readonly kind: 'notification'; readonly message: JSONRPCNotification }
  | { readonly kind: 'answer'; readonly message: JSONRPCResponse & { readonly id: RequestId } }
  /** It was meant as an answer, and is invalid. */
  | { readonly kind: 'no-answer'; readonly id: RequestId; readonly reason: string }
  | { readonly kind: 'invalid'; readonly answer: RpcErrorAnswer };

export function rpcError(
  id: RequestId | null,
  code: number,
  message: string,
  data?: Readonly<Record<string, unknown>>,
): RpcErrorAnswer {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

export function toErrorAnswer(
  id: RequestId,
  { rpcCode: code, message, data }: RpcError,
): JSONRPCErrorResponse {
  return {
    jsonrpc: '2.0',
    id,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  };
}

/** The answer to bytes that are not JSON. */
export function parseError(bytes: number, reason = 'The message is not JSON.'): RpcErrorAnswer {
  return rpcError(null, RPC.parseError, 'Parse error', { reason, bytes });
}

/** The answer to bytes that are not UTF-8 text (RFC 8259, section 8.1). */
export function notText(bytes: number): RpcErrorAnswer {
  return parseError(bytes, 'The message is not UTF-8.');
}

/**
 * The answer to a request whose id is already in flight: under that id, it would be mistaken for the answer to the
 * other request.
 */
export function idInUse(id: RequestId): RpcErrorAnswer {
  const reason = 'Another request with this id is in flight.';
  return rpcError(null, RPC.invalidRequest, 'Invalid Request', { reason, id });
}

/** The answer to a message that is too long. */
export function tooLong(id: RequestId | null, bytes: number | undefined, most: number): RpcErrorAnswer {
  const reason = `The message is too long: at most ${most} bytes are read.`;
  return rpcError(id, RPC.invalidRequest, 'Invalid Request', { reason, bytes });
}

/** The answer to a message that is beyond a limit of JSON; `excess` says which. */
export function tooComplex(id: RequestId | null, excess: string): RpcErrorAnswer {
  return rpcError(id, RPC.invalidRequest, 'Invalid Request', { reason: `The message ${excess}.` });
}

/** The message as text. A message that cannot be written becomes an error for its recipient. */
export function toJson(message: JSONRPCMessage | RpcErrorAnswer): string {
  try {
    return writeJson(message);
  } catch {
    const id = 'id' in message && !('method' in message) ? (message.id ?? null) : null;
    const data = { reason: 'The answer nests too deeply, or is not JSON.' };
    return JSON.stringify(rpcError(id, RPC.internalError, 'Internal error', data));
  }
}

export function toClientMessage(value: unknown): ClientMessage {
  if (!isJsonObject(value)) return invalid(null, 'A message is a JSON object.');
  const { jsonrpc, id, method, params } = value;
  const ownId = isId(id) ? id : undefined;
  if (!('method' in value)) return toAnswer(value, ownId);
  if (jsonrpc !== '2.0') return invalid(ownId ?? null, '\'jsonrpc\' must be "2.0".');
  if (typeof method !== 'string') return invalid(ownId ?? null, "'method' must be a string.");
  if ('id' in value && ownId === undefined) return invalid(null, "'id' must be a string or a number.");
  if (params !== undefined && !isJsonObject(params)) {
    const data = { reason: "'params' must be an object." };
    return { kind: 'invalid', answer: rpcError(ownId ?? null, RPC.invalidParams, 'Invalid params', data) };
  }
  const message = value as unknown as JSONRPCMessage;
  return ownId === undefined
    ? { kind: 'notification', message: message as JSONRPCNotification }
    : { kind: 'request', message: message as JSONRPCRequest };
}

function toAnswer(value: Readonly<Record<string, unknown>>, id: RequestId | undefined): ClientMessage {
  const { jsonrpc, result, error } = value;
  if (id === undefined) return invalid(null, 'It has neither a method nor a valid id.');
  if (jsonrpc !== '2.0') return { kind: 'no-answer', id, reason: '\'jsonrpc\' must be "2.0".' };
  const isResult = isJsonObject(result) && error === undefined;
  if (!isResult && !(isError(error) && result === undefined))
    return { kind: 'no-answer', id, reason: "It has no method, and neither a 'result' nor an 'error'." };
  return { kind: 'answer', message: value as unknown as JSONRPCResponse & { readonly id: RequestId } };
}

function invalid(id: RequestId | null, reason: string): ClientMessage {
  return { kind: 'invalid', answer: rpcError(id, RPC.invalidRequest, 'Invalid Request', { reason }) };
}

function isError(value: unknown): boolean {
  return isJsonObject(value) && Number.isInteger(value['code']) && typeof value['message'] === 'string';
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}
