/** Telling JSON-RPC messages apart by shape alone; the protocol client checks their content. */
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResultResponse,
} from '@modelcontextprotocol/sdk/types.js';
import { parseJson } from '../parse-json.js';

export type JsonRpcAnswer = JSONRPCResultResponse | JSONRPCErrorResponse;

/** Most messages in one batch (MCP 2025-03-26). Each costs far more than its bytes; we send none to be answered so. */
const MAX_BATCH = 1_000;

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

/** The message, or those of a batch. Undefined for anything else, such as a batch that is empty, too long or not pure. */
export function messagesIn(value: unknown): readonly JSONRPCMessage[] | undefined {
  if (isMessage(value)) return [value];
  const isBatch =
    Array.isArray(value) && value.length > 0 && value.length <= MAX_BATCH && value.every(isMessage);
  return isBatch ? value : undefined;
}

/** As `messagesIn`; undefined for a text that is no JSON, too. */
export function parseMessages(text: string): readonly JSONRPCMessage[] | undefined {
  return messagesIn(parseJson(text));
}

/** Requests that only look. */
const LOOKING: ReadonlySet<string> = new Set([
  'ping',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
]);

/** Whether it is the same to a server to take this twice: it knows an answer by its id, and a notification asks for nothing. */
export function mayComeTwice(message: JSONRPCMessage): boolean {
  return !isRequest(message) || LOOKING.has(message.method);
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message && message.id !== undefined;
}

export function isAnswer(message: JSONRPCMessage): message is JsonRpcAnswer {
  return !('method' in message);
}
