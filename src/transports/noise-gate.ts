/**
 * Lets a burst of noise, that is of anything that came instead of a message, through as one report.
 *
 * N1. The first piece opens a window; at its end there is one report with the count and the first piece.
 * N2. While noise goes on the window doubles, up to a minute, so a server that logs to stdout for ever is told of
 *     about once a minute. A quiet window closes the gate.
 */
import type { Clock } from '../ports.js';

export interface NoiseBurst {
  readonly count: number;
  /** The first piece of the burst. */
  readonly sample: string;
}

const FIRST_WINDOW_MS = 1_000;
const LONGEST_WINDOW_MS = 60_000;

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

  /** @param piece Held until it is reported; leave it out where nobody is to see it. */
  hear(piece = ''): void {
    if (this.#count === 0) this.#sample = piece;
    this.#count += 1;
    if (this.#timer === undefined) this.#open();
  }

  /** Reports at once what has been heard, and closes the gate. */
  flush(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#windowMs = FIRST_WINDOW_MS;
    this.#tell();
  }

  #open(): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      if (this.#count === 0) {
        this.#windowMs = FIRST_WINDOW_MS;
        return;
      }
      this.#windowMs = Math.min(2 * this.#windowMs, LONGEST_WINDOW_MS);
      this.#open();
      this.#tell();
    }, this.#windowMs);
  }

  #tell(): void {
    if (this.#count === 0) return;
    const burst = { count: this.#count, sample: this.#sample };
    this.#count = 0;
    this.#sample = '';
    this.#report(burst);
  }
}
