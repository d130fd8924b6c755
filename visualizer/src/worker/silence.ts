/**
 * Detects that a stream with regular signs of life has become silent: its sender has stopped, or the connection is
 * broken without a notice.
 *
 * N1. Time is counted in turns of `wait`: a computer that has slept is not mistaken for silence.
 * N2. A silent stream may continue, and then nothing is lost. So it is given up only if another request was answered,
 *     or has failed, and the stream is still silent.
 */

/** Number of signs of life that may be missing. */
const MAY_MISS = 2;
/** Time limit for another request, in turns. */
const PATIENCE = 4;

export interface SilenceParts {
  /** Maximum time between two signs of life, milliseconds. */
  readonly everyMs: number;
  readonly wait: (ms: number) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Sends another request. Resolves with whether it was answered, or failed, within this many milliseconds. */
  readonly ask: (ms: number) => Promise<boolean>;
  readonly begun: (since: number) => void;
  readonly over: () => void;
}

export class Silence {
  readonly #parts: SilenceParts;
  #turns = 0;
  #lastMessageAt: number;
  #isSilent = false;

  constructor(parts: SilenceParts) {
    this.#parts = parts;
    this.#lastMessageAt = parts.now();
  }

  heard(): void {
    // The present turn has begun before, and is not a whole one.
    this.#turns = -1;
    this.#lastMessageAt = this.#parts.now();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#parts.over();
  }

  /** Resolves when the stream must be given up, and when `signal` is aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    const { everyMs, wait, ask, begun } = this.#parts;
    while (!signal.aborted) {
      await wait(everyMs);
      this.#turns += 1;
      if (this.#turns <= MAY_MISS || signal.aborted) continue;
      if (!this.#isSilent) begun(this.#lastMessageAt);
      this.#isSilent = true;
      if (!(await ask(everyMs * PATIENCE))) continue;
      await wait(everyMs);
      if (this.#isSilent) return;
    }
  }
}
