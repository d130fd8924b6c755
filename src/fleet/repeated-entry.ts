/** An entry by which a process says that it is there: sealed, and written again every five seconds until it ends. */
import type { Clock } from '../ports.js';
import type { SealedEntries } from './sealed-entries.js';

const BEAT_MS = 5_000;

export interface RepeatedEntryParts {
  readonly entries: SealedEntries;
  readonly name: string;
  readonly clock: Clock;
}

export class RepeatedEntry {
  readonly #parts: RepeatedEntryParts;
  #said: object | undefined;
  #beat: unknown;
  /** Writes are in order. */
  #written: Promise<void> = Promise.resolve();

  constructor(parts: RepeatedEntryParts) {
    this.#parts = parts;
  }

  /** Resolves once it was written, or could not be: then it is written with the next beat. Never rejects. */
  say(value: object): Promise<void> {
    this.#said = value;
    return this.again();
  }

  /** Writes it at once if there is something to say. */
  again(): Promise<void> {
    const { entries, name, clock } = this.#parts;
    clock.clearTimeout(this.#beat);
    if (this.#said === undefined) return this.#written;
    this.#beat = clock.setTimeout(() => void this.again(), BEAT_MS);
    return this.#then(async () => {
      if (this.#said !== undefined) await entries.write(name, this.#said);
    });
  }

  /** Removes the entry. Never rejects. */
  async end(): Promise<void> {
    const { entries, name, clock } = this.#parts;
    clock.clearTimeout(this.#beat);
    if (this.#said === undefined) return;
    this.#said = undefined;
    await this.#then(() => entries.remove(name));
  }

  #then(write: () => Promise<void>): Promise<void> {
    this.#written = this.#written.then(write).catch(() => {});
    return this.#written;
  }
}
