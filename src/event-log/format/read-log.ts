/**
 * Reads an event log from bytes, entry by entry.
 *
 * Longer than 300 lines because one parser keeps what is known between chunks, parts and recordings.
 *
 * Owns lines and their order. Does not own the content of an entry (`entry.ts`) nor its meaning (`replayer.ts`).
 *
 * R1. No bytes make it throw, hang or grow: a line has a limit, one chunk is read at a time, and a failing source is a
 *     problem like any other.
 * R2. A problem is the last piece. Every piece before it is valid.
 * R3. A truncated last line, for example because the writer was killed, is the problem `truncated`.
 * R4. A report may hold several parts and several recordings, each with its header; a log file holds one part.
 */
import { FILE_LIMITS, parseJson } from '../../json/parse-json.js';
import { LineFramer } from '../../text/line-framer.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import { isReport, reportProblem, type LogReport } from './report.js';
import {
  entryProblem,
  headerProblem,
  type LogEntry,
  type LogHeader,
  MAX_LINE_BYTES,
  versionProblem,
} from './entry.js';
import type { FollowParts } from './follow-file.js';
import { chunksOf, requireFile, requireSource, type LogSource } from './log-source.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';
import { systemClock } from '../../ports.js';

/**
 * One piece of a log. The header is the first, in a report the second; a problem, if there is one, is the last. A report, and
 * a log that is followed, have several parts, each of which begins with its header.
 */
export type LogPiece =
  /** The first line of a report. */
  | {
      readonly type: 'report';
      /** Always 1. */
      readonly line: number;
      /** The line, parsed and checked. */
      readonly report: LogReport;
    }
  /** The first line of a log, or of a part. */
  | {
      readonly type: 'header';
      /** Number of the line, from 1. */
      readonly line: number;
      /** The line, parsed and checked. */
      readonly header: LogHeader;
    }
  /** An entry. */
  | {
      readonly type: 'entry';
      /** Number of the line, from 1. */
      readonly line: number;
      /** The line, parsed and checked. */
      readonly entry: LogEntry;
      /** The line as it was read. */
      readonly text: string;
    }
  /** The log cannot be read any further. */
  | {
      readonly type: 'problem';
      /** Number of the line, from 1. */
      readonly line: number;
      /** What is wrong with it. */
      readonly problem: LogProblem;
    };

/** Options of `readLog`. */
export interface ReadOptions {
  /** Maximum length of a line, bytes. Default 16 MiB. */
  readonly maxLineBytes?: number;
  /**
   * Waits for more at the end of a file, and for a file that does not exist yet; goes on over rotations and restarts of its
   * writer, each of which begins with a header. A problem then ends a part, not the reading. Default false.
   */
  readonly follow?: boolean;
  /** Ends the reading. Default: none. */
  readonly signal?: AbortSignal;
}

/**
 * Reads a log piece by piece. Never rejects: a fault in the log is the last piece. A log without a fault may
 * still lack entries at its end.
 *
 * @param log Path, URL, text, bytes or stream of one file. To `follow` it: its path or file URL.
 * @param options Longest line, and whether to follow the file. Default: read to the end.
 *
 * @throws `TypeError` if the log is none of these, or cannot be followed, and for an unknown option.
 *
 * @example
 * ```ts
 * import { readLog } from 'mcp-troupe/event-log';
 *
 * for await (const piece of readLog('troupe.log', { follow: true })) {
 *   if (piece.type === 'entry') console.log(piece.entry.seq, piece.entry.kind);
 * }
 * ```
 */
export function readLog(
  log: LogSource,
  options: ReadOptions = {},
): AsyncGenerator<LogPiece, void, undefined> {
  requireSource(log);
  requireKnown('readLog', options, OPTIONS);
  const { maxLineBytes = MAX_LINE_BYTES, follow = false, signal = new AbortController().signal } = options;
  if (follow) return followedPieces(requireFile(log), maxLineBytes, { clock: systemClock, signal });
  return piecesOf(log, maxLineBytes, signal);
}

const OPTIONS: OptionNames<ReadOptions> = { maxLineBytes: true, follow: true, signal: true };

async function* piecesOf(
  log: LogSource,
  maxLineBytes: number,
  signal: AbortSignal,
): AsyncGenerator<LogPiece, void, undefined> {
  const parser = new LogParser(maxLineBytes);
  try {
    for await (const chunk of chunksOf(log)) {
      if (signal.aborted) return;
      yield* parser.push(chunk);
      if (parser.isOver) return;
    }
  } catch (error) {
    if (!parser.isOver) yield parser.unreadable(error);
    return;
  }
  yield* parser.end();
}

/** The pieces of a file that grows, and of the files that follow it. */
export async function* followedPieces(
  path: string,
  maxLineBytes: number,
  parts: FollowParts,
): AsyncGenerator<LogPiece, void, undefined> {
  const { followFile } = await import('./follow-file.js');
  let parser = new LogParser(maxLineBytes);
  let isEmpty = true;
  try {
    for await (const read of followFile(path, parts)) {
      if (read?.type === 'bytes') {
        isEmpty = false;
        yield* parser.push(read.bytes);
      } else if (read?.type === 'begin') {
        if (!isEmpty) yield* parser.end();
        parser = new LogParser(maxLineBytes);
        isEmpty = true;
      }
    }
  } catch (error) {
    yield parser.unreadable(error);
  }
}

/** The same for bytes that are pushed, for callers that cannot wait. */
export class LogParser {
  readonly #maxLineBytes: number;
  readonly #framer: LineFramer;
  #pieces: LogPiece[] = [];
  /** Number of lines so far. */
  #line = 0;
  /** Number of the line with the header of the part; 0 before it. */
  #headerLine = 0;
  #isReport = false;
  #nextSeq: number | undefined;
  /** Entries of the current snapshot that still follow. */
  #snapshotsLeft = 0;
  #isOver = false;
  #isEnding = false;

  constructor(maxLineBytes: number = MAX_LINE_BYTES) {
    this.#maxLineBytes = maxLineBytes;
    this.#framer = new LineFramer(
      { line: (text) => this.#read(text), oversize: () => this.#tooLong() },
      maxLineBytes,
    );
  }

  /** Whether a problem was reported: no more pieces follow. */
  get isOver(): boolean {
    return this.#isOver;
  }

  push(chunk: Uint8Array): readonly LogPiece[] {
    if (this.#isOver) return [];
    this.#framer.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    if (this.#framer.unfinished > this.#maxLineBytes) this.#tooLong();
    return this.#take();
  }

  /** Call it when no more bytes come. */
  end(): readonly LogPiece[] {
    if (this.#isOver) return [];
    this.#isEnding = true;
    this.#framer.end();
    if (this.#line === 0) this.#fail('not-a-log', 1, 'Line 1 is missing: the log is empty.');
    else if (this.#headerLine === 0 && this.#isReport)
      this.#fail('not-a-log', 1, 'The report holds no recording.');
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
    const value = parseJson(this.#line === 1 ? text.replace(/^\ufeff/, '') : text, FILE_LIMITS);
    const isWhole = value !== undefined || !this.#isEnding;
    if (!isWhole && isBeginOfLog(this.#line, text)) this.#truncated(this.#line, 'was cut off');
    else if (this.#line === 1 && isReport(value)) this.#readReport(value);
    else if (this.#nextSeq === undefined || (this.#isReport && isHeader(value))) this.#readHeader(value);
    else this.#readEntry(value, this.#nextSeq, text);
  }

  #readReport(value: JsonObject): void {
    const problem = reportProblem(value);
    if (problem !== undefined) return this.#fail(problem.code, 1, problem.message);
    this.#isReport = true;
    this.#pieces.push({ type: 'report', line: 1, report: value as unknown as LogReport });
  }

  #readHeader(value: unknown): void {
    this.#snapshotsLeft = 0;
    const refused = versionProblem(value, this.#line);
    if (refused !== undefined) return this.#fail(refused.code, this.#line, refused.message);
    const problem = headerProblem(value as JsonObject);
    if (problem !== undefined) return this.#corrupt(problem);
    const header = value as LogHeader;
    this.#nextSeq = header.firstSeq;
    this.#headerLine = this.#line;
    this.#pieces.push({ type: 'header', line: this.#line, header });
  }

  #readEntry(value: unknown, expected: number, text: string): void {
    if (value === undefined) return this.#corrupt('is not JSON');
    if (!isJsonObject(value)) return this.#corrupt('is not an object');
    if (isHeader(value))
      return this.#corrupt('begins another part or another log, which must be a separate file');
    const problem = entryProblem(value);
    if (problem !== undefined) return this.#corrupt(problem);
    const entry = value as unknown as LogEntry;
    if (entry.seq !== expected) {
      return this.#corrupt(`is entry ${entry.seq} instead of entry ${expected}`);
    }
    const misplaced = this.#misplaced(entry);
    if (misplaced !== undefined) return this.#corrupt(misplaced);
    this.#nextSeq = expected + 1;
    this.#pieces.push({ type: 'entry', line: this.#line, entry, text });
  }

  /** A snapshot is one run, and every part begins with one. */
  #misplaced(entry: LogEntry): string | undefined {
    const isFirst = this.#line === this.#headerLine + 1;
    const left = this.#snapshotsLeft;
    if (entry.kind !== 'snapshot') {
      if (left > 0) return `interrupts a snapshot, ${left} of whose entries are missing`;
      return isFirst ? 'is not a snapshot, but a log must begin with one' : undefined;
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

/** Any text may be the beginning of an entry, because it follows a header. */
function isBeginOfLog(line: number, text: string): boolean {
  return line > 1 || text.startsWith('{"troupeLog":') || text.startsWith('{"troupeReport":');
}

function isHeader(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, 'troupeLog');
}

/** The kinds of problems with a log. */
export type LogProblemCode =
  /** It does not begin like a log. */
  | 'not-a-log'
  /** Its format is older: convert it. */
  | 'older'
  /** Its format is newer. */
  | 'newer'
  /** A line is invalid. */
  | 'corrupt'
  /** A line is longer than the limit. */
  | 'too-long'
  /** Another recording begins; `mergeLogs` reads several. */
  | 'another-run'
  /** The last line is truncated; the rest of the log is complete. */
  | 'truncated'
  /** The bytes could not be read. */
  | 'unreadable';

/** Why a log cannot be read any further. */
export interface LogProblem {
  /** Stable word for programs; `message` says the same for people. */
  readonly code: LogProblemCode;
  /** Number of the line, from 1. */
  readonly line: number;
  /** For a person: names the line, or the version of the log. */
  readonly message: string;
}
