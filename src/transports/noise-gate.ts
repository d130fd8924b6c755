/**
 * Turns a burst of noise into one report. Noise is anything that comes instead of a message.
 *
 * N1. The first piece opens a window; at its end there is one report with the count and the first piece.
 * N2. While noise goes on the window doubles, up to a minute, so a server that logs to stdout forever causes about one
 *     report a minute. A quiet window closes the gate.
 */
import type { Clock } from '../ports.js';

export interface NoiseBurst {
  readonly count: number;
  /** The first piece of the burst. */
  readonly sample: string;
}

const FIRST_WINDOW_MS = 1_000;
const MAX_WINDOW_MS = 60_000;

export class NoiseGate {
  readonly #clock: Clock;
  readonly #report: (burst: NoiseBurst) => void;
  #windowMs = FIRST_WINDOW_MS;
  #timer: unknown;
  #count = 0;
  #sample = '';

  /** @param report Must not throw. */
  constructor(clock: Clock, report: (burst: NoiseBurst) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** @param piece Kept until it is reported; omit it if nobody may see it. */
  add(piece = ''): void {
    if (this.#count === 0) this.#sample = piece;
    this.#count += 1;
    if (this.#timer === undefined) this.#open();
  }

  /** Reports the burst so far at once, and closes the gate. */
  flush(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#windowMs = FIRST_WINDOW_MS;
    this.#emit();
  }

  #open(): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      if (this.#count === 0) {
        this.#windowMs = FIRST_WINDOW_MS;
        return;
      }
      this.#windowMs = Math.min(2 * this.#windowMs, MAX_WINDOW_MS);
      this.#open();
      this.#emit();
    }, this.#windowMs);
  }

  #emit(): void {
    if (this.#count === 0) return;
    const burst = { count: this.#count, sample: this.#sample };
    this.#count = 0;
    this.#sample = '';
    this.#report(burst);
  }
}
