/** The answer to one POST whose client accepts no stream: JSON, sent once every request of the POST has its answer. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { JSONRPCMessage, RequestId } from '../../mcp/messages.js';
import { toJson, type RpcErrorAnswer } from '../client/client-message.js';
import { answerText, refuse, type Refused } from './http-answers.js';

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
