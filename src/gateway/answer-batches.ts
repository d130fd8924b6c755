/**
 * Holds the answers to the requests of a batch until all of them are there (JSON-RPC 2.0, section 6).
 *
 * B1. What a batch is answered with goes out together, once. A batch that nothing answers is answered with nothing.
 */
import type { JSONRPCResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { RpcErrorAnswer } from './client-message.js';
import type { Heard } from './conversation.js';

export type Answer = JSONRPCResponse | RpcErrorAnswer;

interface Batch {
  readonly answers: Answer[];
  readonly awaited: Set<RequestId>;
}

export class AnswerBatches {
  readonly #batchOf = new Map<RequestId, Batch>();
  readonly #send: (answers: readonly Answer[]) => void;

  constructor(send: (answers: readonly Answer[]) => void) {
    this.#send = send;
  }

  /** These came together. */
  await(heard: readonly Heard[]): void {
    const answers = heard.flatMap((each) => (each.kind === 'refused' ? [each.answer] : []));
    const ids = heard.flatMap((each) => (each.kind === 'request' ? [each.message.id] : []));
    const batch: Batch = { answers, awaited: new Set(ids) };
    for (const id of ids) this.#batchOf.set(id, batch);
    this.#sendWhole(batch);
  }

  /** False for what answers no request of a batch. */
  take(answer: Answer): boolean {
    const batch = this.#batchOf.get(answer.id ?? '');
    if (batch === undefined) return false;
    batch.answers.push(answer);
    this.forget(answer.id ?? '');
    return true;
  }

  /** That request needs no answer any more. */
  forget(id: RequestId): void {
    const batch = this.#batchOf.get(id);
    if (batch === undefined) return;
    this.#batchOf.delete(id);
    batch.awaited.delete(id);
    this.#sendWhole(batch);
  }

  /** No more answers come: sends those that are there. */
  end(): void {
    for (const id of this.#batchOf.keys()) this.forget(id);
  }

  #sendWhole({ answers, awaited }: Batch): void {
    if (awaited.size === 0 && answers.length > 0) this.#send(answers);
  }
}
