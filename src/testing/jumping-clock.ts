/**
 * A clock that jumps to its next timer as soon as nothing else is left to do, so that hours pass in a moment.
 *
 * It is for processes in which everything else happens at once, for instance with in-process servers: work that takes real
 * time, such as another process, would be jumped over. Modules that load on demand are loaded before the first jump.
 */
import type { Clock } from '../ports.js';

interface Timer {
  readonly ms: number;
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/** The clock jumps after this many turns of the event loop without anything to do. */
const IDLE_TURNS = 5;
/** A timer this long may be a limit on work that takes real time, so the clock waits `GRACE_MS` before it jumps. */
const LONG_JUMP_MS = 5_000;
const GRACE_MS = 20;
/** After this many waits in vain for timers of one delay, they count as recurring and not as limits. */
const MAX_FRUITLESS_WAITS = 10;

export class JumpingClock implements Clock {
  readonly #timers = new Set<Timer>();
  /** Number of waits in vain, by the delay of the timer. */
  readonly #fruitlessWaits = new Map<number, number>();
  readonly #isReady = loadAll();
  #now: number;
  #count = 0;
  #isPumping = false;

  /** Starts at that time, milliseconds since the epoch. */
  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(fn: () => void, ms: number): unknown {
    this.#count += 1;
    const timer: Timer = { ms, at: this.#now + Math.max(0, ms), order: this.#count, fn };
    this.#timers.add(timer);
    if (!this.#isPumping) void this.#pump();
    return timer;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as Timer);
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    await this.#isReady;
    while (this.#timers.size > 0) {
      for (let count = 0; count < IDLE_TURNS; count += 1) await turn();
      const next = [...this.#timers].toSorted((a, b) => a.at - b.at || a.order - b.order)[0];
      if (next === undefined) continue;
      const fruitlessWaits = this.#fruitlessWaits.get(next.ms) ?? 0;
      const mayBeLimit = next.at - this.#now >= LONG_JUMP_MS && fruitlessWaits < MAX_FRUITLESS_WAITS;
      if (mayBeLimit) await patience();
      const isStillNext = this.#timers.has(next) && [...this.#timers].every(({ at }) => at >= next.at);
      if (!isStillNext) continue;
      if (mayBeLimit) this.#fruitlessWaits.set(next.ms, fruitlessWaits + 1);
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.fn();
    }
    this.#isPumping = false;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function patience(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, GRACE_MS));
}

/** Loads what a troupe with in-process servers loads on demand, which takes real time. */
export async function loadAll(): Promise<void> {
  await Promise.all([
    import('../servers/load-config.js'),
    import('../protocol/session-client.js'),
    import('../transports/in-process.js'),
    import('../schemas/json-schema.js'),
  ]);
}
