/**
 * Writes to one page of a running troupe, at its own pace: the hello, what is older than the history, the history and later
 * entries, the newest rows, the end.
 *
 * L1. Nothing is queued for it: it is written to only while it reads, from buffers that all pages share.
 * L2. A page that reads nothing for `STALL_MS` is cut off; a page that still runs reconnects.
 * L3. The page gets a sign of life every `aliveEveryMs` of the hello, so that silence has a meaning.
 */
import type { Writable } from 'node:stream';
import type { Clock } from '../ports.js';
import type { HistoryReader } from './log-history.js';
import type { Alive, SessionEnd, Hello, Resync } from './page-protocol.js';

const STALL_MS = 60_000;

export interface LivePageParts {
  readonly clock: Clock;
  readonly page: Writable;
  readonly hello: Hello;
  /** Messages that come before the history. */
  readonly past: AsyncIterable<string> | undefined;
  readonly reader: HistoryReader;
  /** The newest rows; the same object until they change. */
  readonly status: () => Buffer | undefined;
  readonly onclosed: () => void;
}

export class LivePage {
  readonly #parts: LivePageParts;
  /** Resolves when nothing more can be written. */
  readonly closed: Promise<void>;
  #status: Buffer | undefined;
  #endedBecause: string | undefined;
  #stall: unknown;
  /** Resolves the wait for a page that has not read yet. */
  #drained: (() => void) | undefined;
  /** The history comes next. */
  #isPastSent: boolean;
  #heartbeat: unknown;

  constructor(parts: LivePageParts) {
    this.#parts = parts;
    const { page, clock, onclosed, hello, past } = parts;
    this.#isPastSent = past === undefined;
    page.on('drain', () => this.#resume());
    // A page may go away at any moment.
    page.on('error', () => {});
    this.closed = new Promise((resolve) => {
      page.once('close', () => {
        clock.clearTimeout(this.#stall);
        clock.clearTimeout(this.#heartbeat);
        this.#drained?.();
        resolve();
        onclosed();
      });
    });
    page.write(line(hello));
    this.#sendHeartbeat();
    this.pump();
    if (past !== undefined) void this.#sendPast(past);
  }

  /** Writes until the page stops reading. */
  pump(): void {
    if (this.#stall !== undefined) return;
    const { page, clock } = this.#parts;
    while (page.writable && !page.writableNeedDrain) {
      const message = this.#next();
      if (message === undefined) return;
      page.write(message);
    }
    if (page.writable) this.#stall = clock.setTimeout(() => page.destroy(), STALL_MS);
  }

  /** Sends the last message, after everything before. */
  end(why: string): void {
    this.#endedBecause ??= why;
    this.pump();
  }

  async #sendPast(past: AsyncIterable<string>): Promise<void> {
    const { page } = this.#parts;
    try {
      for await (const message of past) {
        await this.#untilDrained();
        if (!page.writable || this.#endedBecause !== undefined) break;
        page.write(message);
      }
    } catch {
      // The file can no longer be read: the page gets the rest.
    }
    this.#isPastSent = true;
    this.pump();
  }

  async #untilDrained(): Promise<void> {
    this.pump();
    if (this.#stall === undefined) return;
    await new Promise<void>((resolve) => (this.#drained = resolve));
  }

  #sendHeartbeat(): void {
    const { page, clock, hello } = this.#parts;
    if (hello.aliveEveryMs === undefined) return;
    this.#heartbeat = clock.setTimeout(() => {
      if (page.writable && !page.writableNeedDrain) page.write(line({ kind: 'alive' }));
      this.#sendHeartbeat();
    }, hello.aliveEveryMs);
  }

  #resume(): void {
    this.#parts.clock.clearTimeout(this.#stall);
    this.#stall = undefined;
    this.#drained?.();
    this.pump();
  }

  #next(): Buffer | string | undefined {
    const { page, reader, status } = this.#parts;
    const rows = status();
    if (rows !== undefined && rows !== this.#status) return (this.#status = rows);
    if (!this.#isPastSent) return undefined;
    const read = reader.next();
    if (read !== undefined)
      return 'bytes' in read ? read.bytes : line({ kind: 'resync', missed: read.missed });
    if (this.#endedBecause === undefined) return undefined;
    page.end(line({ kind: 'end', why: this.#endedBecause }));
    return undefined;
  }
}

function line(message: Hello | Resync | Alive | SessionEnd): string {
  return `${JSON.stringify(message)}\n`;
}
