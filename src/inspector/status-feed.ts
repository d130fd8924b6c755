/**
 * The present rows of all servers as one message, rebuilt after changes. The interval grows with the cost, so that it
 * takes at most a twentieth of the runtime's time.
 */
import type { Clock } from '../ports.js';
import type { InspectedStatus, StatusRows } from './page-protocol.js';

/** Shortest time between two messages, milliseconds. */
const EVERY_MS = 100;
const TIMES_ITS_COST = 20;

export interface StatusFeedParts {
  readonly clock: Clock;
  readonly rows: () => readonly InspectedStatus[];
  /** Called when something may have changed. Returns the function that stops listening. */
  readonly onchanged: (fn: () => void) => () => void;
  /** `message` has changed. */
  readonly onmade: () => void;
}

export class StatusFeed {
  readonly #parts: StatusFeedParts;
  #message: Buffer | undefined;
  /** The rows in the message, as JSON. */
  #rows = '';
  #cost = 0;
  #timer: unknown;
  #silence: (() => void) | undefined;

  constructor(parts: StatusFeedParts) {
    this.#parts = parts;
  }

  /** The newest message; the same object until the rows change. */
  get message(): Buffer | undefined {
    return this.#message;
  }

  start(): void {
    this.#silence = this.#parts.onchanged(() => this.#soon());
    this.#make();
  }

  /** Keeps the newest message. */
  stop(): void {
    this.#silence?.();
    this.#parts.clock.clearTimeout(this.#timer);
  }

  /** Builds the last message at once if something has changed. */
  flush(): void {
    if (this.#timer === undefined) return;
    this.#parts.clock.clearTimeout(this.#timer);
    this.#make();
  }

  #soon(): void {
    this.#timer ??= this.#parts.clock.setTimeout(
      () => this.#make(),
      Math.max(EVERY_MS, this.#cost * TIMES_ITS_COST),
    );
  }

  #make(): void {
    const { clock, rows, onmade } = this.#parts;
    this.#timer = undefined;
    const begun = clock.now();
    const now = JSON.stringify(rows());
    this.#cost = clock.now() - begun;
    if (now === this.#rows) return;
    this.#rows = now;
    const head: Omit<StatusRows, 'rows'> = { kind: 'status', at: clock.now() };
    this.#message = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"rows":${now}}\n`);
    onmade();
  }
}
