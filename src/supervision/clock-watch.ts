/**
 * Notices that the machine has slept, or that its clock was set forward: more time has passed than a timer waited.
 * Connections may have broken in the meantime without a sign.
 */
import type { Clock } from '../ports.js';

const INTERVAL_MS = 5_000;
/** A busy host fires its timers late, but not this late. */
const JUMP_MS = 10_000;

export class ClockWatch {
  #timer: unknown;

  /** `onJump` gets the length of each jump in milliseconds. */
  constructor(
    private readonly clock: Clock,
    private readonly onJump: (jumpMs: number) => void,
  ) {}

  /** Watches until `stop`; keeps no process alive. */
  start(): void {
    const setAt = this.clock.now();
    this.#timer = this.clock.setTimeout(() => {
      this.start();
      const jumpMs = this.clock.now() - setAt - INTERVAL_MS;
      if (jumpMs > JUMP_MS) this.onJump(jumpMs);
    }, INTERVAL_MS);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  stop(): void {
    this.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
