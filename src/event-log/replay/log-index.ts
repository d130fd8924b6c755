/**
 * The index of a log in memory, which may grow: where each line is, its time, actor and state. Runs in a browser.
 *
 * G1. Adding parses only headers (`line-index.ts`); other lines are parsed on demand.
 * G2. A moment is folded from the snapshot before it, so it costs no more than the entries between two snapshots.
 * G3. Nothing in a log makes it throw. Everything before an invalid line can be read.
 * G4. Bytes come in chunks of any size. A line counts when it is whole: with its line feed, or at the end of its part.
 *
 * Longer than 300 lines because the index of the lines and the access to them share one list of positions.
 */
import { FILE_LIMITS, parseJson } from '../../json/parse-json.js';
import { connectionName } from '../../actor-system/actor-path.js';
import { stateText } from './divergence.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import {
  entryProblem,
  headerProblem,
  type LogEntry,
  type LogHeader,
  MAX_LINE_BYTES,
  versionProblem,
} from '../format/entry.js';
import { Fold } from './fold.js';
import type { FoldedState } from './folded-actor.js';
import { LineScanner, linesOf, type ActorState, type ScannedLine } from '../format/line-index.js';
import type { LogProblem } from '../format/read-log.js';
import { isReport, reportProblem } from '../format/report.js';
import { isSameRun } from '../format/runs.js';
import { MonotonicTime } from '../format/monotonic-time.js';
import type { Moment, OpenLog } from './open-log.js';
import type { StateChange } from './summary.js';

/** A fold that has applied the entry `at`, and began with the snapshot at `from`. */
interface Cursor {
  readonly fold: Fold;
  readonly from: number;
  at: number;
}

/** Lines in a row that are entries in a row. */
interface Segment {
  readonly bytes: Uint8Array;
  /** Number of its first entry, and of the line with it. */
  readonly first: number;
  readonly line: number;
  readonly starts: Float64Array;
}

const NOTHING = new Uint8Array();

export class LogIndex implements OpenLog {
  header: LogHeader | undefined;
  problem: LogProblem | undefined;
  #length = 0;
  readonly #scanner = new LineScanner();
  readonly #segments: Segment[] = [];
  /** Number of the first entry of each. */
  readonly #firsts: number[] = [];
  #times = new Float64Array(0);
  readonly #time = new MonotonicTime();
  #places = new Int32Array(0);
  readonly #moved = new Map<number, readonly ActorState[]>();
  /** The first entries of snapshots, in order. */
  readonly #snapshots: number[] = [];
  #cursor: Cursor | undefined;
  /** Number of parts that were begun. */
  #parts = 0;
  /** Number of lines of the part, and of the line with its header; 0 before it. */
  #lines = 0;
  #headerLine = 0;
  #isReport = false;
  #wasSnapshot = false;
  /** The beginning of a line. */
  #tail: Uint8Array = NOTHING;

  /** Adds a whole part. After a problem, nothing is added any more. */
  addPart(bytes: Uint8Array): void {
    this.beginPart();
    this.append(bytes);
    this.endPart();
  }

  /** What follows is another part. */
  beginPart(): void {
    if (this.problem !== undefined) return;
    this.#parts += 1;
    this.#lines = 0;
    this.#headerLine = 0;
    this.#isReport = false;
  }

  /** Bytes are kept, not copied. */
  append(bytes: Uint8Array): void {
    if (this.problem !== undefined) return;
    let rest = bytes;
    if (this.#tail.length > 0) {
      const end = bytes.indexOf(LINE_FEED) + 1;
      this.#tail = joined(this.#tail, end === 0 ? bytes : bytes.subarray(0, end));
      if (end === 0) return this.#checkTail();
      const line = this.#tail;
      this.#tail = NOTHING;
      this.#addLines(line, true);
      rest = bytes.subarray(end);
    }
    const end = rest.lastIndexOf(LINE_FEED) + 1;
    this.#tail = rest.subarray(end);
    if (end > 0) this.#addLines(rest.subarray(0, end), true);
    this.#checkTail();
  }

  /** The part has no more lines. */
  endPart(): void {
    const line = this.#tail;
    this.#tail = NOTHING;
    if (this.problem === undefined && (line.length > 0 || this.#headerLine === 0))
      this.#addLines(line, false);
  }

  get connections(): readonly string[] {
    const names = new Set<string>();
    const addresses = [...this.#scanner.places, ...[...this.#moved.values()].flat()].map(({ to }) => to);
    for (const address of addresses) {
      const name = connectionName(address);
      if (name !== undefined) names.add(name);
    }
    return [...names];
  }

  get first(): number {
    return this.header?.firstSeq ?? 1;
  }

  get last(): number {
    return this.first + this.#length - 1;
  }

  timeOf(entry: number): number {
    return entry <= this.last ? (this.#times[entry - this.first] ?? NaN) : NaN;
  }

  entryAt(time: number): number {
    return this.first + countUpTo(time, this.#times.subarray(0, this.#length)) - 1;
  }

  entries(from: number, to: number): readonly LogEntry[] {
    const entries: LogEntry[] = [];
    for (let number = Math.max(this.first, from); number <= Math.min(to, this.last); number += 1) {
      const entry = this.#entry(number);
      if (entry === undefined) break;
      entries.push(entry);
    }
    return entries;
  }

  at(entry: number): Moment {
    const wanted = Math.min(Math.max(this.first, entry), this.last);
    const cursor = this.#cursorFor(wanted);
    for (; cursor.at < wanted; cursor.at += 1) {
      const next = this.#entry(cursor.at + 1);
      if (next === undefined) break;
      cursor.fold.take(next);
    }
    const machines = new Map<string, FoldedState>();
    for (const address of cursor.fold.actors) {
      const folded = cursor.fold.stateOf(address);
      if (folded !== undefined) machines.set(address, folded);
    }
    return { entry: this.#entry(wanted), machines };
  }

  *changes(from: number = this.first, to: number = this.last): Generator<StateChange, void, undefined> {
    const states = new Map<string, string>();
    const texts = this.#scanner.places.map(({ state }) => stateText(state));
    const start = Math.max(this.first, from);
    for (let entry = this.first; entry <= Math.min(to, this.last); entry += 1) {
      const place = this.#places[entry - this.first] ?? -1;
      const own = this.#scanner.places[place];
      const moved = this.#moved
        .get(entry)
        ?.map(({ to: address, state }) => [address, stateText(state)] as const);
      const entered = [
        ...(own === undefined ? [] : [[own.to, texts[place] ?? ''] as const]),
        ...(moved ?? []),
      ];
      for (const [address, state] of entered) {
        const before = states.get(address);
        states.set(address, state);
        const server = entry < start || before === state ? undefined : connectionName(address);
        if (server !== undefined)
          yield { entry, at: this.timeOf(entry), server, from: before ?? null, to: state };
      }
    }
  }

  /** The last fold continues if no snapshot is in between. */
  #cursorFor(wanted: number): Cursor {
    const from = this.#snapshots[countUpTo(wanted, this.#snapshots) - 1] ?? this.first;
    const last = this.#cursor;
    const canGoOn = last?.from === from && last.at <= wanted;
    this.#cursor = canGoOn ? last : { fold: new Fold(), from, at: from - 1 };
    return this.#cursor;
  }

  #entry(number: number): LogEntry | undefined {
    const segment = this.#segments[countUpTo(number, this.#firsts) - 1];
    if (segment === undefined || number > this.last) return undefined;
    const { bytes, first, line: firstLine, starts } = segment;
    const line = number - first + firstLine;
    const text = this.#scanner.text(bytes, starts[line] ?? 0, (starts[line + 1] ?? 0) - 1);
    const value = parseJson(text, FILE_LIMITS);
    return isJsonObject(value) && entryProblem(value) === undefined
      ? (value as unknown as LogEntry)
      : undefined;
  }

  #addLines(bytes: Uint8Array, isWhole: boolean): void {
    const { starts } = linesOf(bytes);
    const count = Math.max(1, starts.length - 1);
    this.#reserve(this.#length + count);
    let isContinued = false;
    for (let line = 0; line < count && this.problem === undefined; line += 1) {
      const [start, end] = [starts[line] ?? 0, Math.max(0, (starts[line + 1] ?? 1) - 1)];
      this.#lines += 1;
      if (this.#headerLine === 0 || (this.#isReport && isHeader(bytes, start))) {
        isContinued = false;
        this.#addHeader(this.#scanner.text(bytes, start, end));
        continue;
      }
      if (!isContinued) this.#addSegment({ bytes, first: this.last + 1, line, starts });
      isContinued = true;
      this.#addEntry(this.#scanner.scan(bytes, start, end), isWhole);
    }
  }

  #addSegment(segment: Segment): void {
    this.#segments.push(segment);
    this.#firsts.push(segment.first);
  }

  #addHeader(text: string): void {
    const value = parseJson(text, FILE_LIMITS);
    if (this.#lines === 1 && isReport(value)) {
      this.#isReport = true;
      const refused = reportProblem(value);
      if (refused !== undefined) this.problem = { ...refused, line: 1 };
      return;
    }
    const refused = versionProblem(value, this.#lines);
    if (refused !== undefined) {
      this.problem = { ...refused, line: this.#lines };
      return;
    }
    const problem = headerProblem(value as JsonObject);
    if (problem !== undefined) return this.#fail('corrupt', problem);
    const header = value as LogHeader;
    const isOther = this.header !== undefined && !isSameRun(this.header, header);
    if (isOther) return this.#fail('another-run', 'begins another recording: mergeLogs opens several');
    const expected = this.last + 1;
    this.header ??= header;
    if (header.firstSeq !== expected && this.#segments.length > 0)
      return this.#fail('corrupt', `begins with entry ${header.firstSeq} instead of entry ${expected}`);
    this.#headerLine = this.#lines;
    this.#wasSnapshot = false;
  }

  #addEntry(glance: ScannedLine | string, isWhole: boolean): void {
    if (typeof glance === 'string')
      return isWhole ? this.#fail('corrupt', glance) : this.#fail('truncated', 'was cut off');
    const problem = misplaced(glance, this.#lines === this.#headerLine + 1, this.last + 1);
    if (problem !== undefined) return this.#fail('corrupt', problem);
    this.#keep(glance, glance.isSnapshot && !this.#wasSnapshot);
    this.#wasSnapshot = glance.isSnapshot;
  }

  #checkTail(): void {
    if (this.#tail.length <= MAX_LINE_BYTES) return;
    this.#tail = NOTHING;
    this.#lines += 1;
    this.#fail('too-long', `is longer than ${MAX_LINE_BYTES} bytes`);
  }

  #reserve(length: number): void {
    if (length <= this.#times.length) return;
    const capacity = Math.max(length, 2 * this.#times.length);
    this.#times = grown(this.#times, new Float64Array(capacity));
    this.#places = grown(this.#places, new Int32Array(capacity));
  }

  #keep({ at, place, moved }: ScannedLine, beginsSnapshot: boolean): void {
    const entry = this.last + 1;
    if (beginsSnapshot) this.#snapshots.push(entry);
    this.#times[this.#length] = this.#time.of(at);
    this.#places[this.#length] = place;
    if (moved !== undefined)
      this.#moved.set(
        entry,
        Object.entries(moved).map(([to, state]) => ({ to, state })),
      );
    this.#length += 1;
  }

  #fail(code: LogProblem['code'], why: string): void {
    const line = this.#lines;
    const part = this.#parts > 1 ? `Part ${this.#parts}, line` : 'Line';
    this.problem = { code, line, message: `${part} ${line} ${why}.` };
  }
}

const LINE_FEED = 0x0a;
const HEADER_START = new TextEncoder().encode('{"troupeLog":');

function isHeader(bytes: Uint8Array, start: number): boolean {
  return HEADER_START.every((byte, index) => bytes[start + index] === byte);
}

function misplaced({ seq, isSnapshot }: ScannedLine, isFirst: boolean, expected: number): string | undefined {
  if (seq !== expected) return `is entry ${seq} instead of entry ${expected}`;
  return isFirst && !isSnapshot ? 'is not a snapshot, but a log must begin with one' : undefined;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

/** How many values of a sorted list are at most that value. */
function countUpTo(value: number, sorted: ArrayLike<number>): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
