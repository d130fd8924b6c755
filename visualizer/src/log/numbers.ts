/** A growing list of numbers, at eight bytes each. */
export class Numbers {
  #values = new Float64Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(value: number): void {
    if (this.#length === this.#values.length) {
      const longer = new Float64Array(this.#values.length * 2);
      longer.set(this.#values);
      this.#values = longer;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  /** NaN if there is none. */
  at(index: number): number {
    return index < this.#length ? (this.#values[index] ?? NaN) : NaN;
  }

  /** How many are at most that value. The list must be sorted. */
  countUpTo(value: number): number {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#values[middle] ?? 0) <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
