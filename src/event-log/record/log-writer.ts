/**
 * Passes lines to a sink at the sink's pace.
 *
 * W1. One call of the sink at a time, in order. An error of the sink is reported once and ends the writing.
 * W2. It holds a limited amount: callers check `isFull` first.
 */
import type { LogSink } from './record-options.js';

/** Maximum number of characters that wait for the sink. */
const MAX_WAITING = 16 * 1_024 * 1_024;
/** Maximum number of characters in one write. */
const BATCH = 256 * 1_024;
const NEW_PART = Symbol('new part');

export class LogWriter {
  readonly #sink: LogSink;
  readonly #onFailed: (error: unknown) => void;
  #waiting: (string | typeof NEW_PART)[] = [];
  #size = 0;
  #isBroken = false;
  #work: Promise<void> | undefined;

  constructor(sink: LogSink, onFailed: (error: unknown) => void) {
    this.#sink = sink;
    this.#onFailed = onFailed;
  }

  /** The sink is too slow: more output would have to be held. */
  get isFull(): boolean {
    return this.#size > MAX_WAITING;
  }

  /** Whether there is plenty of room again. */
  get isDrained(): boolean {
    return this.#size <= MAX_WAITING / 2;
  }

  write(line: string): void {
    if (this.#isBroken) return;
    this.#waiting.push(line);
    this.#size += line.length;
    this.#work ??= this.#pump();
  }

  newPart(): void {
    if (this.#isBroken) return;
    this.#waiting.push(NEW_PART);
    this.#work ??= this.#pump();
  }

  /** Resolves when everything is written and the sink is closed, however long the sink takes. Never rejects. */
  async close(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
    try {
      await this.#sink.close();
    } catch (error) {
      this.#break(error);
    }
    this.#isBroken = true;
  }

  async #pump(): Promise<void> {
    // The lines of one turn are one batch.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) await this.#next();
    } catch (error) {
      this.#break(error);
    }
    this.#work = undefined;
  }

  async #next(): Promise<void> {
    if (this.#waiting[0] === NEW_PART) {
      this.#waiting.shift();
      await this.#sink.rotate?.();
      return;
    }
    const lines = this.#takeBatch();
    await this.#sink.write(lines);
    this.#size -= lines.length;
  }

  #takeBatch(): string {
    let size = 0;
    let end = 0;
    for (const line of this.#waiting) {
      if (line === NEW_PART || size > BATCH) break;
      size += line.length;
      end += 1;
    }
    return this.#waiting.splice(0, end).join('');
  }

  #break(error: unknown): void {
    this.#waiting = [];
    this.#size = 0;
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#onFailed(error);
  }
}
