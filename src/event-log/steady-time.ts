/**
 * The times of a log, of which none is earlier than the one before: where a clock was set back, time goes on a
 * millisecond later, so that what came after stays after.
 */
export class SteadyTime {
  #last = -Infinity;
  #setBack = 0;

  /** Of what was written as the time of the next entry, milliseconds. */
  of(at: number): number {
    if (at + this.#setBack < this.#last) this.#setBack = this.#last + 1 - at;
    this.#last = at + this.#setBack;
    return this.#last;
  }
}
