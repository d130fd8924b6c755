/** Runs work with the same key one at a time, in the order in which it came. */
import { abortable } from './abortable.js';

export class Mutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Settles as the work does. The signal ends the wait; work that has begun goes on. */
  async take<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#last.get(key);
    const turn = (async () => {
      await before;
      signal.throwIfAborted();
      return work();
    })();
    const over = turn.then(
      () => {},
      () => {},
    );
    this.#last.set(key, over);
    void over.then(() => {
      if (this.#last.get(key) === over) this.#last.delete(key);
    });
    if (before !== undefined) await abortable(before, signal);
    return turn;
  }
}
