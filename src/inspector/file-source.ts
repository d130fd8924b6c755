/** A recorded log for pages, streamed from the disk at the pace of each page. */
import { createReadStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAX_LINE_BYTES } from '../event-log/format/entry.js';
import type { Clock } from '../ports.js';
import { makeHello, type InspectionSource } from './inspection-source.js';
import type { Hello, InspectionMessage } from './page-protocol.js';

const CHUNK_BYTES = 1_024 * 1_024;
const LINE_FEED = 0x0a;

export class FileSource implements InspectionSource {
  readonly #files: readonly string[];
  readonly #title: string;
  readonly #clock: Clock;
  /** The open streams, each with the means to end it. */
  readonly #pages = new Map<Promise<void>, AbortController>();

  /** `files` are the parts of one recording, the oldest first. */
  constructor(files: readonly string[], title: string, clock: Clock) {
    this.#files = files;
    this.#title = title;
    this.#clock = clock;
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

  async *log(): AsyncGenerator<Uint8Array, void, undefined> {
    for (const [index, file] of this.#files.entries()) {
      let last: number | undefined;
      for await (const bytes of chunksOf(file)) {
        yield bytes;
        last = bytes.at(-1);
      }
      const isLast = index === this.#files.length - 1;
      // The end of an earlier part may be truncated.
      if (!isLast && last !== LINE_FEED) yield Uint8Array.of(LINE_FEED);
    }
  }

  async close(why: string): Promise<void> {
    for (const ending of this.#pages.values()) ending.abort(why);
    await Promise.all(this.#pages.keys());
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
