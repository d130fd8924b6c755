/** The page's side of the worker that reads the log. */
import type { Answered, Asked, News, Order, Question, Questions } from '../log/desk-messages.js';

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

export class LogClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(worker: Worker, onNews: (news: News) => void) {
    this.#worker = worker;
    worker.addEventListener('message', ({ data }: MessageEvent<News | Answered>) => {
      if ('news' in data) return onNews(data);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('answer' in data) waiting?.resolve(data.answer as never);
      else waiting?.reject(new Error(data.trouble));
    });
  }

  order(order: Order): void {
    this.#worker.postMessage(order, []);
  }

  /** Rejects if there is no answer. */
  ask<Q extends Question>(question: Q, ask: Questions[Q]['ask']): Promise<Questions[Q]['answer']> {
    this.#lastId += 1;
    const id = this.#lastId;
    const asked: Asked<Q> = { id, question, ask };
    this.#worker.postMessage(asked, []);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}
