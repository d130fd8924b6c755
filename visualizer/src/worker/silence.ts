/**
 * Notices that nothing is heard any more of a stream that says something every so often: whoever writes it stands still,
 * or the way to it is broken and nobody was told.
 *
 * N1. Time is counted in turns of `wait`: a computer that has slept is not taken for silence.
 * N2. What stands still may go on, and then nothing is lost. So a stream is given up only where something else was
 *     answered, or has failed, and it still says nothing.
 */

/** Of what is said so often, so many may be missing. */
const MAY_MISS = 2;
/** How long another question may take, in turns. */
const PATIENCE = 4;

export interface SilenceParts {
  /** Something is said so often at least, milliseconds. */
  readonly everyMs: number;
  readonly wait: (ms: number) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Asks something else: whether that was answered, or has failed, within so many milliseconds. */
  readonly ask: (ms: number) => Promise<boolean>;
  readonly begun: (since: number) => void;
  readonly over: () => void;
}

export class Silence {
  readonly #parts: SilenceParts;
  #turns = 0;
  #heardAt: number;
  #isSilent = false;

  constructor(parts: SilenceParts) {
    this.#parts = parts;
    this.#heardAt = parts.now();
  }

  heard(): void {
    // The turn that is under way has begun before, and is no whole one.
    this.#turns = -1;
    this.#heardAt = this.#parts.now();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#parts.over();
  }

  /** Resolves where the stream is to be given up, and when `signal` is aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    const { everyMs, wait, ask, begun } = this.#parts;
    while (!signal.aborted) {
      await wait(everyMs);
      this.#turns += 1;
      if (this.#turns <= MAY_MISS || signal.aborted) continue;
      if (!this.#isSilent) begun(this.#heardAt);
      this.#isSilent = true;
      if (!(await ask(everyMs * PATIENCE))) continue;
      await wait(everyMs);
      if (this.#isSilent) return;
    }
  }
}
