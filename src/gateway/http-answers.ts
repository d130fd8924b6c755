/** How the HTTP service of a gateway answers what is no stream: JSON, as JSON-RPC has it. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { RPC, rpcError } from './client-message.js';

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

/** Whatever was not read of the request is not read any more. */
export function refuse(response: ServerResponse, { status, error, headers, code }: Refused): void {
  const isRead = response.req.complete;
  answerJson(response, status, rpcError(null, code ?? RPC.serverError, error), {
    ...(isRead ? {} : { connection: 'close' }),
    ...headers,
  });
}
