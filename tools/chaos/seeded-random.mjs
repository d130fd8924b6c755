/** Random choices that a seed repeats (mulberry32). */
export class SeededRandom {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** A number from 0, less than 1. */
  number() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from a range, including both ends. */
  between(low, high) {
    return low + Math.floor(this.number() * (high - low + 1));
  }

  chance(probability) {
    return this.number() < probability;
  }

  pick(list) {
    return list[this.between(0, list.length - 1)];
  }

  /** An entry of the list; an entry of weight 2 is chosen twice as often as one of weight 1. */
  pickWeighted(list) {
    let place = this.number() * list.reduce((sum, { weight }) => sum + weight, 0);
    return (
      list.find(({ weight }) => {
        place -= weight;
        return place < 0;
      }) ?? list.at(-1)
    );
  }

  /** The list in random order. */
  shuffled(list) {
    const rest = [...list];
    return list.map(() => rest.splice(this.between(0, rest.length - 1), 1)[0]);
  }
}
