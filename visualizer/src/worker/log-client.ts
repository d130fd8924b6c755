/** The page's side of the worker that reads the log. */
import type { Answered, Asked, News, Order, Question, Questions } from '../log/desk-messages.js';

export class LogClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (answer: never) => void>();
  #lastId = 0;

  constructor(worker: Worker, onNews: (news: News) => void) {
    this.#worker = worker;
    worker.addEventListener('message', ({ data }: MessageEvent<News | Answered>) => {
      if ('news' in data) return onNews(data);
      this.#waiting.get(data.id)?.(data.answer as never);
      this.#waiting.delete(data.id);
    });
  }

  /** The bytes of an opened file go over to the worker. */
  order(order: Order): void {
    this.#worker.postMessage(order, order.order === 'open' ? [order.bytes] : []);
  }

  ask<Q extends Question>(question: Q, ask: Questions[Q]['ask']): Promise<Questions[Q]['answer']> {
    this.#lastId += 1;
    const id = this.#lastId;
    const asked: Asked<Q> = { id, question, ask };
    this.#worker.postMessage(asked, []);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}
