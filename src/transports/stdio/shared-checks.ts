/**
 * When to look for what a server has left behind. Looking reads the process table, which takes milliseconds, so servers that end
 * shortly after each other are checked together.
 *
 * C1. A check sees everything that outlived the server: the table is read after the end was reported.
 * C2. It comes in the turn of the event loop in which the end is reported. If other servers were asked to end, it waits for the
 *     last of them, but at most `WAIT_MS`.
 */
import type { Clock } from '../../ports.js';
import { forgetProcesses } from './process-table.js';

/** As often as survivors are looked for. */
const WAIT_MS = 20;

export class SharedChecks {
  readonly #clock: Clock;
  /** Servers that were asked to end and have not. */
  readonly #ending = new Set<object>();
  #due: (() => void)[] = [];
  #timer: unknown;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server is asked to end now. */
  begin(server: object): void {
    this.#ending.add(server);
  }

  /** The server has ended, and `check` looks for what it left. */
  ended(server: object, check: () => void): void {
    forgetProcesses();
    const isExpected = this.#ending.delete(server);
    this.#due.push(check);
    if (!isExpected || this.#ending.size === 0) setImmediate(this.#checkAll);
    else this.#timer ??= this.#clock.setTimeout(this.#checkAll, WAIT_MS);
  }

  /** Nobody waits for the end of the server any more. */
  giveUp(server: object): void {
    if (this.#ending.delete(server) && this.#ending.size === 0) this.#checkAll();
  }

  readonly #checkAll = (): void => {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const due = this.#due;
    this.#due = [];
    for (const check of due) check();
  };
}

/** Servers whose clocks differ do not wait for each other. */
const byClock = new WeakMap<Clock, SharedChecks>();

export function sharedChecks(clock: Clock): SharedChecks {
  const known = byClock.get(clock) ?? new SharedChecks(clock);
  byClock.set(clock, known);
  return known;
}
