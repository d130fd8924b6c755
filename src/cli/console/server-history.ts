/** What a server wrote and what happened to it since the console was opened. */
import type { Failure } from '../../../machines/policy/failure.js';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import { cleanText } from '../../text/server-text.js';
import { headlineOf } from '../output/plain-lines.js';
import { oneLine } from '../output/terminal.js';

/** The lines that are kept of each server. */
const MAX_LINES = 1_000;

/** A line of the log; a line that is repeated is kept once. */
export interface LogLine {
  /** When it was written last, milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  readonly count: number;
  /** Whether the server wrote it; otherwise it says what happened to the server. */
  readonly isOutput: boolean;
}

export class ServerHistory {
  #lines: LogLine[] = [];
  #readyCount = 0;
  #lastFailure: Failure | undefined;

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** How often the server became ready again. */
  get restarts(): number {
    return Math.max(0, this.#readyCount - 1);
  }

  get lastFailure(): Failure | undefined {
    return this.#lastFailure;
  }

  add(event: LifecycleEvent): void {
    if (event.type === 'connection.ready') this.#readyCount += 1;
    if ('failure' in event && event.failure !== null) this.#lastFailure = event.failure;
    if (event.type === 'server.log') {
      const text = event.level === undefined ? event.message : `${event.level}: ${event.message}`;
      for (const each of text.split(/\r?\n/)) this.#append(event.at, cleanText(each), true);
      return;
    }
    const headline = headlineOf(event);
    if (headline !== undefined) this.#append(event.at, oneLine(headline), false);
  }

  #append(at: number, text: string, isOutput: boolean): void {
    const last = this.#lines.at(-1);
    const isRepeated = last?.text === text && last.isOutput === isOutput;
    if (isRepeated) this.#lines.pop();
    this.#lines.push({ at, text, isOutput, count: isRepeated ? last.count + 1 : 1 });
    // Dropping one line at a time would move all others each time.
    if (this.#lines.length > 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
  }
}
