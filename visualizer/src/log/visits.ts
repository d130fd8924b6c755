/** How often each state of a chart was entered up to some moment. Moves forwards and backwards along one lane. */
import type { StateValue } from 'xstate';
import type { Lane } from './lane.js';

export class Visits {
  readonly #counts = new Map<string, number>();
  readonly #entered = new Map<string, readonly string[]>();
  /** Index of the last counted change. */
  #at = -1;

  constructor(
    private readonly lane: Lane,
    private readonly valueOf: (number: number) => StateValue | undefined,
  ) {}

  /** Paths of states, keys joined by dots, with the number of times that they were entered up to that change. */
  upTo(change: number): ReadonlyMap<string, number> {
    for (; this.#at < change; this.#at += 1) this.#count(this.#at + 1, 1);
    for (; this.#at > change; this.#at -= 1) this.#count(this.#at, -1);
    return this.#counts;
  }

  #count(change: number, by: number): void {
    for (const path of this.#enteredBy(change)) this.#counts.set(path, (this.#counts.get(path) ?? 0) + by);
  }

  #enteredBy(change: number): readonly string[] {
    const [before, after] = [this.lane.values.at(change - 1), this.lane.values.at(change)];
    const key = `${before} ${after}`;
    let entered = this.#entered.get(key);
    if (entered === undefined) {
      const left = new Set(statePaths(this.valueOf(before)));
      entered = statePaths(this.valueOf(after)).filter((path) => !left.has(path));
      this.#entered.set(key, entered);
    }
    return entered;
  }
}

/** Every active state of a state value, as keys joined by dots. */
function statePaths(value: StateValue | undefined): string[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return [value];
  return Object.entries(value).flatMap(([key, below]) => [
    key,
    ...statePaths(below).map((path) => `${key}.${path}`),
  ]);
}
