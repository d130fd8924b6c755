/**
 * The recent part of a running recording, for pages that come later and for slow pages.
 *
 * H1. It holds whole parts, each of which begins with a header and the states of that moment; the oldest is dropped
 *     first. So its size is bounded, whether or not anybody reads. Only the newest part may exceed the limit: if the
 *     states of all machines need more than that.
 * H2. A reader is only a position in it. A reader whose position was dropped continues with the newest part and learns
 *     how many entries it missed.
 * H3. An addition is turned into a message once, for all readers.
 */
import type { LogHeader } from '../event-log/format/entry.js';
import type { LogSink } from '../event-log/record/record-options.js';
import type { LogLines } from './page-protocol.js';

/** Number of parts in a full history. The oldest is dropped as a whole, so the others are what is always there. */
const PARTS = 5;
/** Approximate size of one read, bytes. */
const MAX_READ = 256 * 1_024;

interface Chunk {
  readonly message: Buffer;
  readonly entries: number;
}

interface Part {
  /** Number of entries in all parts before it. */
  readonly before: number;
  readonly chunks: Chunk[];
  entries: number;
  /** In bytes. */
  size: number;
}

/** The next read: messages, or the number of missed entries. */
export type NextRead = { readonly bytes: Buffer } | { readonly missed: number };

export class LogHistory implements LogSink {
  readonly maxSize: number;
  readonly #listeners: { readonly added: () => void; readonly closed: () => void };
  readonly #limit: number;
  readonly #parts: Part[] = [];
  #size = 0;

  /** `limit` is in bytes. */
  constructor(heard: { readonly added: () => void; readonly closed: () => void }, limit: number) {
    this.maxSize = Math.floor(limit / PARTS);
    this.#limit = limit;
    this.#listeners = heard;
  }

  /** Bytes that are held. */
  get size(): number {
    return this.#size;
  }

  /** When the oldest part that is held began, milliseconds since the epoch; undefined while nothing is held. */
  get startedAt(): number | undefined {
    const [text] = this.texts();
    return text === undefined
      ? undefined
      : (JSON.parse(text.slice(0, text.indexOf('\n'))) as LogHeader).startedAt;
  }

  write(lines: string): void {
    const part = this.#parts.at(-1) ?? this.#begin();
    const message = Buffer.from(`${JSON.stringify({ kind: 'log', lines } satisfies LogLines)}\n`);
    const headers = part.chunks.length === 0 ? 1 : 0;
    const entries = countLines(lines) - headers;
    part.chunks.push({ message, entries });
    part.entries += entries;
    part.size += message.length;
    this.#size += message.length;
    while (this.#size > this.#limit && this.#parts.length > 1) this.#size -= this.#parts.shift()?.size ?? 0;
    this.#listeners.added();
  }

  rotate(): void {
    this.#begin();
  }

  close(): void {
    this.#listeners.closed();
  }

  /** Starts at the oldest entry that is held. */
  reader(): HistoryReader {
    return new HistoryReader(this.#parts);
  }

  /** Everything that is held now, in the form of a file. */
  *texts(): Generator<string, void, undefined> {
    for (const { chunks } of [...this.#parts])
      for (const { message } of chunks) yield (JSON.parse(message.toString()) as LogLines).lines;
  }

  #begin(): Part {
    const last = this.#parts.at(-1);
    const before = last === undefined ? 0 : last.before + last.entries;
    const part: Part = { before, chunks: [], entries: 0, size: 0 };
    this.#parts.push(part);
    return part;
  }
}

export class HistoryReader {
  #part: Part | undefined;
  /** Number of chunks read from it. */
  #chunks = 0;
  #entries = 0;

  constructor(private readonly parts: readonly Part[]) {
    this.#part = parts[0];
    this.#entries = this.#part?.before ?? 0;
  }

  /** Undefined if everything was read. */
  next(): NextRead | undefined {
    const part = (this.#part ??= this.parts[0]);
    if (part === undefined) return undefined;
    const at = this.parts.indexOf(part);
    if (at === -1) return { missed: this.#skip() };
    const later = this.parts[at + 1];
    const isRead = this.#chunks === part.chunks.length && later !== undefined;
    if (isRead) this.#goTo(later);
    const taken = takeChunks(isRead ? later : part, this.#chunks);
    if (taken.length === 0) return undefined;
    this.#chunks += taken.length;
    this.#entries += taken.reduce((sum, { entries }) => sum + entries, 0);
    return { bytes: Buffer.concat(taken.map(({ message }) => message)) };
  }

  #skip(): number {
    const newest = this.parts.at(-1);
    this.#goTo(newest);
    const before = newest?.before ?? this.#entries;
    const missed = before - this.#entries;
    this.#entries = before;
    return missed;
  }

  #goTo(part: Part | undefined): void {
    this.#part = part;
    this.#chunks = 0;
  }
}

function takeChunks({ chunks }: Part, from: number): readonly Chunk[] {
  let size = 0;
  let end = from;
  for (; end < chunks.length && size < MAX_READ; end += 1) size += chunks[end]?.message.length ?? 0;
  return chunks.slice(from, end);
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
