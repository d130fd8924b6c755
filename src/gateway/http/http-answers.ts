/** The answers of the gateway's HTTP service that are not streams: JSON, in the form of JSON-RPC. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { RPC, rpcError, toJson, type RpcErrorAnswer } from '../client/client-message.js';
import type { JSONRPCMessage, RequestId } from '../../mcp/messages.js';

/** Limit for one request. The server limits its time. */
const MAX_DROPPED_BYTES = 64 * 1_024 * 1_024;

/** Why an HTTP request is refused: one sentence for a person. */
export interface Refused {
  readonly status: number;
  readonly error: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Code of the JSON-RPC error. Default -32000. */
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
  answerText(response, status, JSON.stringify(body), headers);
}

/** Like `answerJson`, for a body that is already JSON text. */
export function answerText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders,
): void {
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

/** Reads and drops the rest of a refused request: a client that is cut off while it sends cannot read the answer. */
export function dropRest(request: IncomingMessage): void {
  if (request.complete) return;
  let left = MAX_DROPPED_BYTES;
  request.on('error', () => {});
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}

export class JsonAnswer {
  readonly #response: ServerResponse;
  readonly #head: OutgoingHttpHeaders;
  readonly #open: Set<RequestId>;
  readonly #isBatch: boolean;
  readonly #answers: string[];

  /** `answers`: the answers that are already known. */
  constructor(
    response: ServerResponse,
    head: OutgoingHttpHeaders,
    requests: readonly RequestId[],
    { isBatch, answers }: { readonly isBatch: boolean; readonly answers: readonly RpcErrorAnswer[] },
  ) {
    this.#response = response;
    this.#head = head;
    this.#open = new Set(requests);
    this.#isBatch = isBatch;
    this.#answers = answers.map(toJson);
  }

  /** Adds the answer to a request; undefined for a cancelled request, which gets none. */
  take(request: RequestId, answer: JSONRPCMessage | RpcErrorAnswer | undefined): void {
    if (!this.#open.delete(request)) return;
    if (answer !== undefined) this.#answers.push(toJson(answer));
    if (this.#open.size > 0 || this.#response.destroyed) return;
    const [first] = this.#answers;
    if (first === undefined) this.#response.writeHead(202, { 'content-length': 0 }).end();
    else answerText(this.#response, 200, this.#isBatch ? `[${this.#answers.join(',')}]` : first, this.#head);
  }

  /** Answers with the refusal if a request is still open. */
  refuse(refusal: Refused): void {
    if (this.#open.size > 0 && !this.#response.destroyed) refuse(this.#response, refusal);
    this.#open.clear();
  }
}
