/**
 * Delayed work, one piece at a time for each key. Of the pieces requested while another waits or runs, only the latest
 * is done.
 *
 * W1. The first piece of a key and an urgent one begin when nothing has been requested for `CALM_MS`: a start of many servers
 *     requests one for each, and they run in one pass after it. Any other piece begins at least `pauseMs` after the one
 *     before ended.
 * W2. `flush` begins the rest at once and resolves when it is done. After that nothing begins and no timer is left.
 */
import type { Clock } from '../ports.js';

const CALM_MS = 100;

type Work = () => Promise<void>;

interface Turn {
  next: Work | undefined;
  isUrgent: boolean;
  timer: unknown;
  running: Promise<void> | undefined;
  /** When the last piece was done, milliseconds since the epoch. */
  doneAt: number | undefined;
}

export class CacheWrites {
  readonly #turns = new Map<string, Turn>();
  /** What begins when it is calm. */
  readonly #soon = new Set<Turn>();
  #calm: unknown;
  /** When something was requested last, milliseconds since the epoch. */
  #requestedAt = 0;
  #isOver = false;

  constructor(
    private readonly clock: Clock,
    private readonly pauseMs: number,
  ) {}

  /** `work` must never reject. */
  ask(key: string, work: Work, isUrgent = false): void {
    if (this.#isOver) return;
    const turn = this.#turns.get(key) ?? {
      next: undefined,
      isUrgent: false,
      timer: undefined,
      running: undefined,
      doneAt: undefined,
    };
    this.#turns.set(key, turn);
    turn.next = work;
    turn.isUrgent ||= isUrgent;
    if (turn.isUrgent) this.#stopWaiting(turn);
    this.#plan(turn);
  }

  async flush(): Promise<void> {
    this.#isOver = true;
    this.clock.clearTimeout(this.#calm);
    await Promise.all([...this.#turns.values()].map((turn) => this.#finish(turn)));
  }

  #stopWaiting(turn: Turn): void {
    if (turn.timer !== undefined) this.clock.clearTimeout(turn.timer);
    turn.timer = undefined;
  }

  #plan(turn: Turn): void {
    if (turn.next === undefined || turn.running !== undefined || turn.timer !== undefined) return;
    const { doneAt } = turn;
    const passedMs = doneAt === undefined ? this.pauseMs : Math.max(0, this.clock.now() - doneAt);
    if (turn.isUrgent || passedMs >= this.pauseMs) this.#beginSoon(turn);
    else turn.timer = this.clock.setTimeout(() => this.#begin(turn), this.pauseMs - passedMs);
  }

  #beginSoon(turn: Turn): void {
    if (this.#soon.has(turn)) return;
    this.#soon.add(turn);
    this.#requestedAt = this.clock.now();
    this.#calm ??= this.clock.setTimeout(() => this.#beginIfCalm(), CALM_MS);
  }

  #beginIfCalm(): void {
    const leftMs = Math.min(CALM_MS, this.#requestedAt + CALM_MS - this.clock.now());
    this.#calm = leftMs > 0 ? this.clock.setTimeout(() => this.#beginIfCalm(), leftMs) : undefined;
    if (this.#calm !== undefined) return;
    for (const each of this.#soon) this.#begin(each);
    this.#soon.clear();
  }

  #begin(turn: Turn): void {
    turn.timer = undefined;
    turn.running = this.#run(turn);
  }

  async #run(turn: Turn): Promise<void> {
    const work = turn.next;
    turn.next = undefined;
    turn.isUrgent = false;
    await work?.();
    turn.doneAt = this.clock.now();
    turn.running = undefined;
    if (!this.#isOver) this.#plan(turn);
  }

  async #finish(turn: Turn): Promise<void> {
    this.#stopWaiting(turn);
    await turn.running;
    if (turn.next !== undefined) await this.#run(turn);
  }
}
