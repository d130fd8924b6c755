/** How the HTTP service of a gateway answers what is no stream: JSON, as JSON-RPC has it. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { RPC, rpcError } from './client-message.js';

/** Of one request. The time for it is bounded by the server. */
const MOST_DROPPED_BYTES = 64 * 1_024 * 1_024;

/** Why a request of HTTP is not answered: one sentence for a person. */
export interface Refused {
  readonly status: number;
  readonly error: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Of the JSON-RPC error. Default -32000. */
  readonly code?: number;
}

export function isRefused(answer: object): answer is Refused {
  return 'status' in answer && 'error' in answer;
}

export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(text);
}

export function refuse(response: ServerResponse, { status, error, headers, code }: Refused): void {
  dropRest(response.req);
  answerJson(response, status, rpcError(null, code ?? RPC.serverError, error), headers);
}

/** Whoever is cut off while it sends comes to read no answer: the rest of what is refused is let in, and not kept. */
export function dropRest(request: IncomingMessage): void {
  if (request.complete) return;
  let left = MOST_DROPPED_BYTES;
  request.on('error', () => {});
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}
