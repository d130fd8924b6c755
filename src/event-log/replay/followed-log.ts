/**
 * A log in memory that grows with its file.
 *
 * F1. It ends with its recording, with `signal`, and when a loop over it is left. Then nothing is left: no timer, no open
 *     file. What was read can still be read.
 * F2. A file that cannot be read any more ends it with a problem. It never rejects later.
 */
import { followFile, type Followed } from '../format/follow-file.js';
import type { LogEntry } from '../format/entry.js';
import type { Clock } from '../../ports.js';
import { messageOf } from '../../text/error-message.js';
import type { FollowedLog } from './open-log.js';
import { LogIndex } from './log-index.js';

export interface FollowedLogParts {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

export class FollowedLogIndex extends LogIndex implements FollowedLog {
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  #work: Promise<void> | undefined;
  /** Whether the present file is not empty. */
  #hasBytes = false;
  /** Loops that wait for more. */
  #waiting: (() => void)[] = [];

  /** `parts` are the earlier parts. */
  constructor(parts: readonly Uint8Array[], { clock, signal }: FollowedLogParts) {
    super();
    this.#clock = clock;
    this.#signal = AbortSignal.any([this.#ending.signal, ...(signal === undefined ? [] : [signal])]);
    for (const part of parts) this.addPart(part);
  }

  get isFollowing(): boolean {
    return this.#work !== undefined;
  }

  /** Resolves when everything that is there was read. Rejects if the file cannot be read. */
  async follow(path: string): Promise<void> {
    const reads = followFile(path, { clock: this.#clock, signal: this.#signal });
    for (;;) {
      const { done, value } = await reads.next();
      if (done === true) return;
      if (!this.#take(value)) return void (await reads.return());
      if (value === undefined) break;
    }
    this.#work = this.#continue(reads);
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#work;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LogEntry, void, undefined> {
    try {
      for (let count = 0; ;) {
        const number = this.first + count;
        const [entry] = this.entries(number, number);
        if (entry !== undefined) {
          count += 1;
          yield entry;
        } else if (this.isFollowing) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        else return;
      }
    } finally {
      await this.close();
    }
  }

  async #continue(reads: AsyncGenerator<Followed, void, undefined>): Promise<void> {
    try {
      for await (const read of reads) {
        if (!this.#take(read)) break;
        if (read?.type === 'bytes') this.#wake();
      }
    } catch (error) {
      this.problem ??= {
        code: 'unreadable',
        line: 0,
        message: `The log could not be read: ${messageOf(error)}`,
      };
    }
    this.#work = undefined;
    this.#wake();
  }

  /** False if nothing of this recording follows. */
  #take(read: Followed): boolean {
    if (read?.type === 'begin') {
      if (this.#hasBytes) this.endPart();
      this.#hasBytes = false;
      this.beginPart();
    } else if (read !== undefined) {
      this.#hasBytes = true;
      this.append(read.bytes);
    }
    return this.problem === undefined && !isEnd(this.entries(this.last, this.last)[0]);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

function isEnd(entry: LogEntry | undefined): boolean {
  return entry?.kind === 'note' && entry.note.type === 'end';
}
