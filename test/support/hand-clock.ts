import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/ports.js';

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** A clock that a test advances. */
export class HandClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now = 0;

  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(fn: () => void, ms: number): unknown {
    const timer = { at: this.#now + ms, fn };
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as Timer);
  }

  /** Runs the timers that are due, in order. What follows from one timer happens before the next one runs. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await turn();
    for (let next = this.#due(end); next !== undefined; next = this.#due(end)) {
      this.#now = Math.max(this.#now, next.at);
      this.#timers.delete(next);
      next.fn();
      await turn();
    }
    this.#now = end;
  }

  #due(end: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
  }
}
