/** Gives equal values the same small number, in the order of their appearance. */
export class Interned<T> {
  readonly #numbers = new Map<string, number>();
  readonly #values: T[] = [];
  readonly #keyOf: (value: T) => unknown;

  /** `keyOf` leaves out what all values have in common. */
  constructor(keyOf: (value: T) => unknown = (value) => value) {
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#values.length;
  }

  number(value: T): number {
    const key = JSON.stringify(this.#keyOf(value));
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#values.length);
    return this.#values.push(value) - 1;
  }

  value(number: number): T {
    return this.#values[number]!;
  }
}
