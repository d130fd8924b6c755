/**
 * The present rows of all servers as one message, made anew after changes, but never so often that it would cost the
 * runtime more than a twentieth of its time.
 */
import type { Clock } from '../ports.js';
import type { InspectedStatus, StatusRows } from './protocol.js';

/** Shortest time between two messages, milliseconds. */
const EVERY_MS = 100;
const TIMES_ITS_COST = 20;

export interface StatusFeedParts {
  readonly clock: Clock;
  readonly rows: () => readonly InspectedStatus[];
  /** Something may have changed; gives the function that ends the listening. */
  readonly onchanged: (fn: () => void) => () => void;
  /** `message` is another one. */
  readonly onmade: () => void;
}

export class StatusFeed {
  readonly #parts: StatusFeedParts;
  #message: Buffer | undefined;
  /** The rows in it. */
  #rows = '';
  #cost = 0;
  #timer: unknown;
  #silence: (() => void) | undefined;

  constructor(parts: StatusFeedParts) {
    this.#parts = parts;
  }

  /** The newest one. The same object until the rows are others. */
  get message(): Buffer | undefined {
    return this.#message;
  }

  start(): void {
    this.#silence = this.#parts.onchanged(() => this.#soon());
    this.#make();
  }

  /** The newest message stays. */
  stop(): void {
    this.#silence?.();
    this.#parts.clock.clearTimeout(this.#timer);
  }

  /** Makes the last one at once, where something has changed since. */
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
