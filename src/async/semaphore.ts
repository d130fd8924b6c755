import { abortable } from './abort.js';

/**
 * Limits the concurrent calls of a server. Calls get their turns in the order in which they came.
 *
 * A call keeps its turn until it ends, even while it waits for a session or is repeated.
 */
export class Semaphore {
  readonly #most: () => number;
  #taken = 0;
  /** Undefined before the first wait. */
  #waiting: Set<() => void> | undefined;

  /** `most` is read each time; 0 = no limit. */
  constructor(most: () => number) {
    this.#most = most;
  }

  /** Number of turns taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes a turn if one is free and nobody waits. `leave` gives it back. */
  tryTake(): boolean {
    if ((this.#waiting?.size ?? 0) > 0 || !this.#isFree) return false;
    this.#taken += 1;
    return true;
  }

  /** Resolves when a turn is taken. Rejects with the signal's reason, and takes none. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting?.delete(onTurn);
        reject(signal.reason as Error);
      };
      const onTurn = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiting ??= new Set();
      this.#waiting.add(onTurn);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  leave(): void {
    this.#taken -= 1;
    this.admit();
  }

  /** Gives the free turns to those that wait. Called again when the limit has changed. */
  admit(): void {
    for (const onTurn of this.#waiting ?? []) {
      if (!this.#isFree) return;
      this.#waiting?.delete(onTurn);
      this.#taken += 1;
      onTurn();
    }
  }

  get #isFree(): boolean {
    const most = this.#most();
    return most === 0 || this.#taken < most;
  }
}

// Runs work with the same key one at a time, in the order in which it came.

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
