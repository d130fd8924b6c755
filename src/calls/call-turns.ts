/**
 * Whose turn it is, where a server takes only so many calls at once: in the order in which they came.
 *
 * A call keeps its turn for as long as it takes, waits for a session and a repetition included.
 */
export class CallTurns {
  readonly #most: () => number;
  #taken = 0;
  /** Undefined until somebody has waited. */
  #waiting: Set<() => void> | undefined;

  /** `most` is asked each time; 0 is no limit. */
  constructor(most: () => number) {
    this.#most = most;
  }

  /** Calls that have their turn. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes a turn where one is free and nobody waits. Whoever has one gives it back with `leave`. */
  tryTake(): boolean {
    if ((this.#waiting?.size ?? 0) > 0 || !this.#isFree) return false;
    this.#taken += 1;
    return true;
  }

  /** Resolves with a turn taken; rejects with the signal's reason and without one. */
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

  /** Lets in who may come now: asked again where the limit is another one. */
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
