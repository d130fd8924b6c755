/**
 * Recorded logs for pages, streamed from the disk at the pace of each page, and followed while they grow.
 *
 * F1. A page gets whole lines. Of a file that is followed, a line that is not finished waits; the rest of a killed process is
 *     left out as soon as another one writes to the file.
 * F2. Several recordings are one stream in order of time. What they get later comes in the order in which it is read.
 * F3. Each page reads for itself: nothing is read, and no timer runs, while no page is open.
 */
import { createReadStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAX_LINE_BYTES } from '../event-log/format/entry.js';
import { FileTail } from '../event-log/format/file-tail.js';
import { pause } from '../event-log/format/follow-file.js';
import { markOf, mergeLines, SO_FAR } from '../event-log/format/merge-lines.js';
import type { LogReport } from '../event-log/format/report.js';
import { together } from '../event-log/format/unpack.js';
import type { Clock } from '../ports.js';
import { makeHello, type InspectionSource } from './inspection-source.js';
import type { Hello, InspectionMessage } from './page-protocol.js';

const CHUNK_BYTES = 1_024 * 1_024;
const LINE_FEED = 0x0a;

/** A recording for pages. */
export interface ShownRun {
  /** Names it among several. */
  readonly label: string;
  /** Paths of its files, or the bytes of its parts, the oldest first. A last path is followed. */
  readonly parts: readonly (string | Uint8Array)[];
}

export class FileSource implements InspectionSource {
  readonly #runs: readonly ShownRun[];
  readonly #title: string;
  readonly #clock: Clock;
  readonly #report: LogReport | undefined;
  /** The open streams, each with the means to end it. */
  readonly #pages = new Map<Promise<void>, AbortController>();
  readonly #ending = new AbortController();

  constructor(runs: readonly ShownRun[], title: string, clock: Clock, report?: LogReport) {
    this.#runs = runs;
    this.#title = title;
    this.#clock = clock;
    this.#report = report;
  }

  hello(): Hello {
    return makeHello('file', this.#title, this.#clock.now());
  }

  watch(page: Writable): void {
    const ending = new AbortController();
    // A page may go away at any moment, and so may the file: then the page sees a truncated stream.
    const done = pipeline(Readable.from(this.#messages(ending.signal)), page).catch(() => {});
    this.#pages.set(done, ending);
    void done.then(() => this.#pages.delete(done));
  }

  async *log(followed?: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#report !== undefined) yield toBytes(`${JSON.stringify(this.#report)}\n`);
    const tails = this.#runs.map((run) => new RunTail(run, followed !== undefined));
    try {
      const [only] = tails;
      if (only !== undefined && tails.length === 1) yield* only.present();
      else yield* merged(tails);
      if (followed === undefined || !tails.some(({ isGrowing }) => isGrowing)) return;
      yield toBytes(`${SO_FAR}\n`);
      yield* this.#later(tails, AbortSignal.any([this.#ending.signal, followed]));
    } finally {
      for (const tail of tails) await tail.close();
    }
  }

  async close(why: string): Promise<void> {
    this.#ending.abort();
    for (const ending of this.#pages.values()) ending.abort(why);
    await Promise.all(this.#pages.keys());
  }

  async *#later(tails: readonly RunTail[], signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    while (!signal.aborted) {
      let isNews = false;
      for (const tail of tails) {
        const lines = await tail.more();
        if (lines === undefined) continue;
        isNews = true;
        if (tails.length > 1) yield toBytes(markOf(tail.label));
        yield lines;
      }
      if (!isNews) await pause(this.#clock, signal);
    }
  }

  async *#messages(ending: AbortSignal): AsyncGenerator<string, void, undefined> {
    yield toLine(this.hello());
    for await (const lines of wholeLines(this.log())) {
      if (ending.aborted) return yield toLine({ kind: 'end', why: String(ending.reason) });
      yield toLine({ kind: 'log', lines });
    }
    yield toLine({ kind: 'log', lines: '', isLast: true });
  }
}

/** Reads one recording: what is there, and what comes later. */
class RunTail {
  readonly label: string;
  readonly #parts: ShownRun['parts'];
  readonly #tail: FileTail | undefined;
  /** The beginning of a line. */
  #rest: Uint8Array = new Uint8Array();

  constructor({ label, parts }: ShownRun, isFollowed: boolean) {
    const last = parts.at(-1);
    this.label = label;
    this.#tail = isFollowed && typeof last === 'string' ? new FileTail(last) : undefined;
    this.#parts = this.#tail === undefined ? parts : parts.slice(0, -1);
  }

  get isGrowing(): boolean {
    return this.#tail !== undefined;
  }

  /** Everything that is there at present. */
  async *present(): AsyncGenerator<Uint8Array, void, undefined> {
    for (const [index, part] of this.#parts.entries()) {
      let last: number | undefined;
      for await (const bytes of typeof part === 'string' ? chunksOf(part) : [part]) {
        yield bytes;
        last = bytes.at(-1);
      }
      const isLast = index === this.#parts.length - 1 && !this.isGrowing;
      // The end of an earlier part may be truncated.
      if (!isLast && last !== LINE_FEED) yield Uint8Array.of(LINE_FEED);
    }
    for (let lines = await this.more(); lines !== undefined; lines = await this.more()) yield lines;
  }

  /** The next whole lines; undefined if there are none at present. */
  async more(): Promise<Uint8Array | undefined> {
    for (let read = await this.#tail?.read(); read !== undefined; read = await this.#tail?.read()) {
      if (read.type === 'begin') {
        this.#rest = new Uint8Array();
        continue;
      }
      const bytes = Buffer.concat([this.#rest, read.bytes]);
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      this.#rest = bytes.subarray(end);
      if (this.#rest.length > MAX_LINE_BYTES) throw new Error('a line is longer than any of a log');
      if (end > 0) return bytes.subarray(0, end);
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#tail?.close();
  }
}

async function* merged(tails: readonly RunTail[]): AsyncGenerator<Uint8Array, void, undefined> {
  const runs = [];
  for (const tail of tails) runs.push({ label: tail.label, parts: [await together(tail.present())] });
  yield* mergeLines(runs);
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function toLine(message: InspectionMessage): string {
  return `${JSON.stringify(message)}\n`;
}

async function* chunksOf(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) yield chunk as Uint8Array;
}

/** The text, cut at line ends. Stops after a chunk that is longer than any line of a log. */
async function* wholeLines(log: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of log) {
    const text = rest + decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) yield text.slice(0, end);
    if (rest.length > MAX_LINE_BYTES) break;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
