/**
 * Reads an event log from bytes, entry by entry.
 *
 * Owns lines and their order. Does not own what an entry may hold (`entry.ts`) nor what it means (`replayer.ts`).
 *
 * R1. No bytes make it throw, hang or grow: a line has a limit, one chunk is read at a time, and a source that fails is
 *     a problem like any other.
 * R2. A problem is the last thing told. Everything that was told before it holds.
 * R3. A last line that was cut off, as by the end of the process that wrote it, is told as `truncated`.
 */
import { parseJson } from '../parse-json.js';
import { LineFramer } from '../transports/line-framer.js';
import type { LogProblem, LogProblemCode } from './log-problem.js';
import { entryProblem, headerProblem, isObject, LOG_FORMAT, type LogEntry, type LogHeader } from './entry.js';

/** Longest line that is read, bytes. Nothing longer is written. */
export const LONGEST_LINE_BYTES = 16 * 1_024 * 1_024;

/**
 * One piece of a log: the header is the first, a problem the last where there is one. `text` is the line of an entry as
 * it stands there.
 */
export type LogPiece =
  | { readonly type: 'header'; readonly line: number; readonly header: LogHeader }
  | { readonly type: 'entry'; readonly line: number; readonly entry: LogEntry; readonly text: string }
  | { readonly type: 'problem'; readonly line: number; readonly problem: LogProblem };

/**
 * The pieces of a log. Never rejects. A log without a problem may still lack entries at its end.
 *
 * @param maxLineBytes Longest line that is read. Default 16 MiB.
 */
export async function* readLog(
  bytes: AsyncIterable<Uint8Array>,
  maxLineBytes: number = LONGEST_LINE_BYTES,
): AsyncGenerator<LogPiece, void, undefined> {
  const parser = new LogParser(maxLineBytes);
  try {
    for await (const chunk of bytes) {
      yield* parser.push(chunk);
      if (parser.isOver) return;
    }
  } catch (error) {
    if (!parser.isOver) yield parser.unreadable(error);
    return;
  }
  yield* parser.end();
}

/** The same for bytes that are pushed, for whoever cannot wait. */
export class LogParser {
  readonly #maxLineBytes: number;
  readonly #framer: LineFramer;
  #pieces: LogPiece[] = [];
  /** Lines that have been read. */
  #line = 0;
  #nextSeq: number | undefined;
  /** Entries of the snapshot under way that are still to come. */
  #snapshotsLeft = 0;
  #isOver = false;
  #isEnding = false;

  constructor(maxLineBytes: number = LONGEST_LINE_BYTES) {
    this.#maxLineBytes = maxLineBytes;
    this.#framer = new LineFramer(
      { line: (text) => this.#read(text), oversize: () => this.#tooLong() },
      maxLineBytes,
    );
  }

  /** A problem was told: nothing comes any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  push(chunk: Uint8Array): readonly LogPiece[] {
    if (this.#isOver) return [];
    this.#framer.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    if (this.#framer.unfinished > this.#maxLineBytes) this.#tooLong();
    return this.#take();
  }

  /** No more bytes come. */
  end(): readonly LogPiece[] {
    if (this.#isOver) return [];
    this.#isEnding = true;
    this.#framer.end();
    if (this.#line === 0) this.#fail('not-a-log', 1, 'Line 1 is missing: the log is empty.');
    if (this.#snapshotsLeft > 0)
      this.#truncated(this.#line + 1, 'is missing: the log ends within a snapshot');
    return this.#take();
  }

  unreadable(error: unknown): LogPiece {
    this.#isOver = true;
    const why = error instanceof Error ? error.message : 'the source failed without an error';
    const line = this.#line + 1;
    const problem: LogProblem = {
      code: 'unreadable',
      line,
      message: `Line ${line} could not be read: ${why}`,
    };
    return { type: 'problem', line, problem };
  }

  #take(): readonly LogPiece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #read(text: string): void {
    if (this.#isOver) return;
    this.#line += 1;
    const value = parseJson(this.#line === 1 ? text.replace(/^\ufeff/, '') : text);
    const isWhole = value !== undefined || !this.#isEnding;
    if (!isWhole && isBeginOfLog(this.#line, text)) this.#truncated(this.#line, 'was cut off');
    else if (this.#nextSeq === undefined) this.#readHeader(value);
    else this.#readEntry(value, this.#nextSeq, text);
  }

  #readHeader(value: unknown): void {
    const version = isObject(value) && Object.hasOwn(value, 'troupeLog') ? value['troupeLog'] : undefined;
    if (!isObject(value) || !Number.isSafeInteger(version) || Number(version) < 1) {
      const message = 'Line 1 is not the header of an event log: it lacks \'"troupeLog":1\'.';
      this.#fail('not-a-log', this.#line, message);
      return;
    }
    if (Number(version) > LOG_FORMAT) {
      const message = `Line 1 says format ${Number(version)}, and this version of Troupe reads ${LOG_FORMAT}: use the version that wrote it, or a newer one.`;
      this.#fail('newer', this.#line, message);
      return;
    }
    const problem = headerProblem(value);
    if (problem !== undefined) return this.#corrupt(problem);
    const header = value as unknown as LogHeader;
    this.#nextSeq = header.firstSeq;
    this.#pieces.push({ type: 'header', line: this.#line, header });
  }

  #readEntry(value: unknown, expected: number, text: string): void {
    if (value === undefined) return this.#corrupt('is not JSON');
    if (!isObject(value)) return this.#corrupt('is not an object');
    if (Object.hasOwn(value, 'troupeLog'))
      return this.#corrupt('begins another part or another log, which belongs into a file of its own');
    const problem = entryProblem(value);
    if (problem !== undefined) return this.#corrupt(problem);
    const entry = value as unknown as LogEntry;
    if (entry.seq !== expected) {
      return this.#corrupt(`is entry ${entry.seq}, where entry ${expected} should be`);
    }
    const misplaced = this.#misplaced(entry);
    if (misplaced !== undefined) return this.#corrupt(misplaced);
    this.#nextSeq = expected + 1;
    this.#pieces.push({ type: 'entry', line: this.#line, entry, text });
  }

  /** A snapshot is one run, and every part begins with one. */
  #misplaced(entry: LogEntry): string | undefined {
    const isFirst = this.#line === 2;
    const left = this.#snapshotsLeft;
    if (entry.kind !== 'snapshot') {
      if (left > 0) return `interrupts a snapshot of which ${left} entries are missing`;
      return isFirst ? 'is no snapshot, and a log begins with one' : undefined;
    }
    if (left > 0 && entry.left !== left - 1) return 'is not the next entry of the snapshot';
    this.#snapshotsLeft = entry.left;
    return undefined;
  }

  #truncated(line: number, why: string): void {
    this.#fail('truncated', line, `Line ${line} ${why}.`);
  }

  #corrupt(why: string): void {
    this.#fail('corrupt', this.#line, `Line ${this.#line} ${why}.`);
  }

  #tooLong(): void {
    const line = this.#line + 1;
    const message = `Line ${line} is longer than ${this.#maxLineBytes} bytes.`;
    this.#fail('too-long', line, message);
  }

  #fail(code: LogProblemCode, line: number, message: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pieces.push({ type: 'problem', line, problem: { code, line, message } });
  }
}

/** Any text may be the begin of an entry, since it follows a header. */
function isBeginOfLog(line: number, text: string): boolean {
  return line > 1 || text.startsWith('{"troupeLog":');
}
