/** Telling JSON-RPC messages apart by shape alone; the protocol client checks their content. */
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResultResponse,
} from '@modelcontextprotocol/sdk/types.js';

export type JsonRpcAnswer = JSONRPCResultResponse | JSONRPCErrorResponse;

export function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || value.jsonrpc !== '2.0')
    return false;
  return 'method' in value ? typeof value.method === 'string' : 'result' in value || 'error' in value;
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message && message.id !== undefined;
}

export function isAnswer(message: JSONRPCMessage): message is JsonRpcAnswer {
  return !('method' in message);
}
