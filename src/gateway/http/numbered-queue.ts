/**
 * A queue of numbered items, whose numbers increase. Adding and taking one costs the same however many there are: the first
 * place of a `Map` costs more the more items were taken before, and `Array.shift` the more are left.
 */
export class NumberedQueue<T extends { readonly seq: number }> {
  #items: T[] = [];
  /** The place of the first item; there are none before. */
  #head = 0;

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): void {
    if (this.#head === this.#items.length) return;
    (this.#items as (T | undefined)[])[this.#head] = undefined;
    this.#head += 1;
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }

  /** The items with a higher number. */
  after(seq: number): readonly T[] {
    let low = this.#head;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#items[middle] as T).seq > seq) high = middle;
      else low = middle + 1;
    }
    return this.#items.slice(low);
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
