/** Recognizes JSON-RPC messages by shape alone; the protocol client checks their content. */
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResultResponse,
} from '../mcp/messages.js';
import { parseJson, type JsonLimits } from '../json/parse-json.js';

export type JsonRpcAnswer = JSONRPCResultResponse | JSONRPCErrorResponse;

/** The error of a server that does not speak the protocol version of the request (MCP 2026-07-28, "Error Codes"). */
export const UNSUPPORTED_PROTOCOL_VERSION = -32_022;

/** Most messages in one batch (MCP 2025-03-26). Each costs far more than its bytes, and Troupe sends no batches. */
const MAX_BATCH = 1_000;

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

/** The message, or the messages of a batch. Undefined for anything else, such as an empty, too long or mixed batch. */
export function messagesIn(value: unknown): readonly JSONRPCMessage[] | undefined {
  if (isMessage(value)) return [value];
  const isBatch =
    Array.isArray(value) && value.length > 0 && value.length <= MAX_BATCH && value.every(isMessage);
  return isBatch ? value : undefined;
}

/** As `messagesIn`, for a text. Undefined if it is not JSON, or beyond a limit. */
export function parseMessages(text: string, limits?: JsonLimits): readonly JSONRPCMessage[] | undefined {
  return messagesIn(parseJson(text, limits));
}

/** Requests that only read. */
const LOOKING: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
]);

/** Requests of callers: if a server refuses one for lack of scope, only that caller is affected. */
const OF_CALLERS: ReadonlySet<string> = new Set([
  'tools/call',
  'resources/read',
  'resources/subscribe',
  'prompts/get',
  'completion/complete',
]);

export function isOfCaller(message: JSONRPCMessage): boolean {
  return isRequest(message) && OF_CALLERS.has(message.method);
}

/** Whether a server may get this message twice without harm: answers are matched by id, and notifications need no answer. */
export function mayComeTwice(message: JSONRPCMessage): boolean {
  return !isRequest(message) || LOOKING.has(message.method);
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message && message.id !== undefined;
}

export function isAnswer(message: JSONRPCMessage): message is JsonRpcAnswer {
  return !('method' in message);
}
