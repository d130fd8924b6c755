/**
 * When the live table is drawn: soon after something happened, but at most every `LEAST_MS`, and otherwise once a
 * second, since it shows times that run.
 */
import type { Clock } from '../ports.js';
import { timeLeft } from '../when-still.js';

const LEAST_MS = 100;
const TICK_MS = 1_000;

export class RedrawSchedule {
  #timer: unknown;
  #drawnAt = -Infinity;
  #isSoon = false;

  constructor(
    private readonly clock: Clock,
    private readonly draw: () => void,
  ) {
    this.#drawNow();
  }

  /** Something happened that is to be seen. */
  changed(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#drawIn(timeLeft(this.clock, this.#drawnAt, LEAST_MS));
  }

  close(): void {
    this.clock.clearTimeout(this.#timer);
  }

  #drawNow(): void {
    this.#isSoon = false;
    this.#drawnAt = this.clock.now();
    this.draw();
    this.#drawIn(TICK_MS);
  }

  #drawIn(ms: number): void {
    this.clock.clearTimeout(this.#timer);
    this.#timer = this.clock.setTimeout(() => this.#drawNow(), ms);
  }
}
