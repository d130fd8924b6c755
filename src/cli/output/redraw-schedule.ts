/** When to draw a live part of the screen: soon after a change, but at most every `FRAME_MS`, however many changes there are. */
import { timeLeft } from '../../async/idle-timer.js';
import type { Clock } from '../../ports.js';

const FRAME_MS = 100;

export class RedrawSchedule {
  #timer: unknown;
  #drawnAt = -Infinity;
  #isSoon = false;

  /** Draws at once. With `tickMs`, also that long after the last time: what is shown can depend on the time. */
  constructor(
    private readonly clock: Clock,
    private readonly draw: () => void,
    private readonly tickMs?: number,
  ) {
    this.#drawNow();
  }

  /** Something visible has changed. */
  changed(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#drawIn(timeLeft(this.clock, this.#drawnAt, FRAME_MS));
  }

  close(): void {
    this.clock.clearTimeout(this.#timer);
  }

  #drawNow(): void {
    this.#isSoon = false;
    this.#drawnAt = this.clock.now();
    this.draw();
    if (this.tickMs !== undefined) this.#drawIn(this.tickMs);
  }

  #drawIn(ms: number): void {
    this.clock.clearTimeout(this.#timer);
    this.#timer = this.clock.setTimeout(() => this.#drawNow(), ms);
  }
}
