/**
 * What a message of a server is, before anything of it is believed. Pure, and cheap for what may come in masses.
 */
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCResponse,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from './protocol-client.js';

export type Inbound =
  | { readonly kind: 'request'; readonly message: JSONRPCMessage }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  /** `id` is NaN where it cannot be one of ours. */
  | { readonly kind: 'answer'; readonly id: number; readonly message: JSONRPCResponse }
  /** `what` repeats nothing of it. */
  | { readonly kind: 'odd'; readonly what: string };

export function toInbound(message: unknown): Inbound {
  if (!isObject(message)) return odd('Something came that is no message.');
  if (!('method' in message)) {
    return { kind: 'answer', id: toOwnId(message['id']), message: message as JSONRPCResponse };
  }
  if (message['id'] !== undefined) {
    return isJSONRPCRequest(message)
      ? { kind: 'request', message }
      : odd('A request came that is not valid JSON-RPC.');
  }
  const { method, params = {} } = message;
  return typeof method === 'string' && isObject(params)
    ? { kind: 'notification', method, params }
    : odd('A notification came that is not valid JSON-RPC.');
}

/** Our ids are numbers. Some servers give them back as text, but only as they stand: `''` is not 0. */
function toOwnId(id: unknown): number {
  if (typeof id === 'number') return id;
  return typeof id === 'string' && String(Number(id)) === id ? Number(id) : NaN;
}

function odd(what: string): Inbound {
  return { kind: 'odd', what };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
