/**
 * A clock that jumps to its next timer as soon as nothing else is left to do, so that hours pass in a moment.
 *
 * For a process in which everything else happens at once, as with servers of the process itself: real work that takes
 * real time, such as another process, would be jumped over. The modules that are loaded when they are first needed are
 * loaded before the first jump.
 */
import type { Clock } from '../ports.js';

interface Timer {
  readonly ms: number;
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/** Turns of the event loop in which nothing came up. */
const IDLE_TURNS = 5;
/** A jump of that length may have been a limit on something that takes its time: it gets some. */
const LONG_JUMP_MS = 5_000;
const PATIENCE_MS = 20;
/** How often it does, for timers of one delay, where nothing comes of it: then it is no limit, but something that recurs. */
const MOST_IN_VAIN = 10;

export class JumpingClock implements Clock {
  readonly #timers = new Set<Timer>();
  /** How often it was waited in vain for something to happen before a timer, by its delay. */
  readonly #inVain = new Map<number, number>();
  readonly #isReady = loadAll();
  #now: number;
  #count = 0;
  #isPumping = false;

  /** Begins at that time, milliseconds since the epoch. */
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
      const inVain = this.#inVain.get(next.ms) ?? 0;
      const mayBeLimit = next.at - this.#now >= LONG_JUMP_MS && inVain < MOST_IN_VAIN;
      if (mayBeLimit) await patience();
      const isStillNext = this.#timers.has(next) && [...this.#timers].every(({ at }) => at >= next.at);
      if (!isStillNext) continue;
      if (mayBeLimit) this.#inVain.set(next.ms, inVain + 1);
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
  return new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
}

async function loadAll(): Promise<void> {
  await Promise.all([
    import('../config/load.js'),
    import('../protocol/session-client.js'),
    import('../transports/in-process.js'),
    import('../validation/json-schema.js'),
  ]);
}
