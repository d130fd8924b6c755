/** Waits of one session, which end with it: what waits then, waits for ever and holds nothing. */
import type { Clock } from '../ports.js';

export class SessionTimers {
  readonly #clock: Clock;
  readonly #handles = new Set<unknown>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const handle = this.#clock.setTimeout(() => {
        this.#handles.delete(handle);
        resolve();
      }, ms);
      this.#handles.add(handle);
    });
  }

  clear(): void {
    for (const handle of this.#handles) this.#clock.clearTimeout(handle);
    this.#handles.clear();
  }
}
