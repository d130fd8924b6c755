/**
 * Notices that the machine has slept, or that its clock was set forward: more time has passed than a timer waited.
 * Whatever was connected before may be gone by now without a word.
 */
import type { Clock } from './ports.js';

const INTERVAL_MS = 5_000;
/** A host that is merely busy fires its timers late, but not by as much as this. */
const JUMP_MS = 10_000;

export class ClockWatch {
  #timer: unknown;

  /** `tell` hears by how many milliseconds the clock has jumped. */
  constructor(
    private readonly clock: Clock,
    private readonly tell: (jumpMs: number) => void,
  ) {}

  /** Watches until `stop`; keeps no process alive. */
  start(): void {
    const setAt = this.clock.now();
    this.#timer = this.clock.setTimeout(() => {
      this.start();
      const jumpMs = this.clock.now() - setAt - INTERVAL_MS;
      if (jumpMs > JUMP_MS) this.tell(jumpMs);
    }, INTERVAL_MS);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  stop(): void {
    this.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
