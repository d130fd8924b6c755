/**
 * Makes the times of a log monotonic: if a clock was set back, time continues a millisecond later, so that the order is
 * kept.
 */
export class MonotonicTime {
  #last = -Infinity;
  #setBack = 0;

  /** The monotonic time of the next entry, from its written time, milliseconds. */
  of(at: number): number {
    if (at + this.#setBack < this.#last) this.#setBack = this.#last + 1 - at;
    this.#last = at + this.#setBack;
    return this.#last;
  }
}
