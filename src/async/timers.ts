/**
 * A clock that knows the timers it has set, so that none of them outlives its owner.
 *
 * The folder `async` holds helpers for time, turns and aborting. They know nothing of MCP and start nothing by themselves.
 */
import type { Clock } from '../ports.js';

export class Timers implements Clock {
  readonly #clock: Clock;
  readonly #set = new Set<unknown>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  setTimeout(fn: () => void, ms: number): unknown {
    const handle = this.#clock.setTimeout(() => {
      this.#set.delete(handle);
      fn();
    }, ms);
    this.#set.add(handle);
    return handle;
  }

  clearTimeout(handle: unknown): void {
    this.#set.delete(handle);
    this.#clock.clearTimeout(handle);
  }

  clearAll(): void {
    for (const handle of this.#set) this.#clock.clearTimeout(handle);
    this.#set.clear();
  }
}
