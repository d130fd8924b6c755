/**
 * The clock of the machines, which numbers the timers it sets. The same events set the same timers in the same order in
 * every run, so the number names a timer where its time would not: a timer fires late, and races with results.
 */
import type { Clock } from '../ports.js';

export class NumberedClock implements Clock {
  readonly #clock: Clock;
  #count = 0;
  #firing: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  setTimeout(fn: () => void, ms: number): unknown {
    this.#count += 1;
    const number = this.#count;
    return this.#clock.setTimeout(() => {
      this.#firing = number;
      try {
        fn();
      } finally {
        this.#firing = undefined;
      }
    }, ms);
  }

  clearTimeout(handle: unknown): void {
    this.#clock.clearTimeout(handle);
  }

  /** The number of the timer that is firing. */
  get firing(): number | undefined {
    return this.#firing;
  }
}
