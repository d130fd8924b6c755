/**
 * A log that may grow, with access to every moment. Live data and files are read by the same code, so the past and the
 * present cannot disagree.
 *
 * Owns the index of the lines and the fold. Does not own the source of the bytes (`worker/`), nor the questions
 * (`log-desk.ts`). Needs neither a page nor Node.
 *
 * B1. Entries are identified by position, from 0: a live page that was too slow has gaps in `seq`, never in positions.
 * B2. Lines are parsed on demand, except headers.
 * B3. A moment is folded from the snapshot before it. Nothing in a log makes it throw: it ends with `problem`.
 * B4. The oldest part can be dropped, up to a snapshot (`shortened`), for a page that is open for days.
 * B5. No entry is earlier than the one before it: if a clock was set back, time continues from there. The line itself
 *     keeps its written time.
 * B6. A header with another `run` begins another recording: its numbers do not follow from those before. A live page gets
 *     the file of a recording, and then what the page's own recorder has written.
 *
 * Longer than 300 lines because the index of the lines and the fold share one list of positions.
 */
import type { StateValue } from 'xstate';
import { MANAGER } from '../../../src/actor-system/actor-path.js';
import { isJsonObject, type JsonObject } from '../../../src/json/json-object.js';
import {
  entryProblem,
  headerProblem,
  type LogEntry,
  type LogHeader,
  versionProblem,
} from '../../../src/event-log/format/entry.js';
import { Fold } from '../../../src/event-log/replay/fold.js';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import { LineScanner, type ScannedLine } from '../../../src/event-log/format/line-index.js';
import type { LogProblem, LogProblemCode } from '../../../src/event-log/format/read-log.js';
import { MonotonicTime } from '../../../src/event-log/format/monotonic-time.js';
import { parseJson } from '../../../src/json/parse-json.js';
import { Labels, type Category, type Label } from './labels.js';
import { Lane } from './lane.js';
import { laneAt, laneOfConnection, MANAGER_LANE } from './lane-names.js';
import { Numbers } from './numbers.js';

const LINE_FEED = 0x0a;
const NOTHING = new Uint8Array();
const HEADER_START = new TextEncoder().encode('{"troupeLog":');
const MARKED: ReadonlySet<Category> = new Set(['rejection', 'failure', 'call', 'list']);

interface Cursor {
  readonly fold: Fold;
  readonly from: number;
  at: number;
}

export class LogBook {
  /** Why the rest is not read. */
  problem: LogProblem | undefined;
  /** Number of entries that are known to be missing. */
  missed = 0;
  /** Number of older entries that are no longer kept. */
  leftOut = 0;
  /** Number of entries before the first one, which were never here. */
  before = 0;
  /** Size of the kept lines, bytes. */
  size = 0;
  /** The manager is the first. */
  readonly lanes: Lane[] = [new Lane(MANAGER_LANE)];
  /** Every state that some actor was in. */
  readonly values: StateValue[] = [];

  readonly #labels = new Labels();
  readonly #scanner = new LineScanner();
  /** Each holds whole lines. */
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  readonly #chunkOf = new Numbers();
  readonly #starts = new Numbers();
  readonly #ends = new Numbers();
  readonly #times = new Numbers();
  readonly #seqs = new Numbers();
  readonly #labelOf = new Numbers();
  readonly #laneOf = new Numbers();
  readonly #snapshots = new Numbers();
  readonly #laneNumbers = new Map<string, number>([[MANAGER_LANE, 0]]);
  readonly #valueNumbers = new Map<string, number>();
  /** By the number of a place in the scanner. */
  readonly #places: { readonly lane: number; readonly value: number }[] = [];
  #tail = NOTHING;
  readonly #time = new MonotonicTime();
  #lines = 0;
  /** The header of each part, with the position of its first entry. */
  #headers: { readonly header: LogHeader; readonly position: number }[] = [];
  /** Number of the next entry, unless some are missing. */
  #nextSeq = 1;
  #wasSnapshot = false;
  #cursors: Cursor[] = [];

  /** The newest one. */
  get header(): LogHeader | undefined {
    return this.#headers.at(-1)?.header;
  }

  get length(): number {
    return this.#times.length;
  }

  /** Milliseconds since the epoch; NaN for a position that does not exist. */
  timeOf(position: number): number {
    return this.#times.at(position);
  }

  /** Position of the last entry at or before that time; -1 if there is none. */
  positionAt(time: number): number {
    return this.#times.countUpTo(time) - 1;
  }

  labelOf(position: number): Label | undefined {
    return this.#labels.all[this.#labelOf.at(position)];
  }

  label(number: number): Label | undefined {
    return this.#labels.all[number];
  }

  /** Number of the lane of the entry's actor; -1 if it has none. */
  laneOf(position: number): number {
    return this.#laneOf.at(position);
  }

  lane(name: string): Lane | undefined {
    return this.lanes[this.#laneNumbers.get(name) ?? -1];
  }

  /** The line as it was written. */
  text(position: number): string {
    const bytes = this.#chunks[this.#chunkOf.at(position)];
    if (bytes === undefined) return '';
    return this.#scanner.text(bytes, this.#starts.at(position), this.#ends.at(position));
  }

  entry(position: number): LogEntry | undefined {
    const value = parseJson(this.text(position));
    return isJsonObject(value) && entryProblem(value) === undefined
      ? (value as unknown as LogEntry)
      : undefined;
  }

  /** Takes bytes as they come; lines may be split anywhere. The bytes are kept, not copied. */
  append(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.problem !== undefined) return;
    let rest = bytes;
    if (this.#tail.length > 0) {
      const end = bytes.indexOf(LINE_FEED) + 1;
      const line = joined(this.#tail, end === 0 ? bytes : bytes.subarray(0, end));
      this.#tail = end === 0 ? line : NOTHING;
      if (end === 0) return;
      this.#readLines(line);
      rest = bytes.subarray(end);
    }
    const end = rest.lastIndexOf(LINE_FEED) + 1;
    this.#tail = rest.subarray(end);
    if (end > 0) this.#readLines(rest.subarray(0, end));
  }

  /** Everything that is kept, in the form of a file. */
  *pieces(): Generator<Uint8Array<ArrayBuffer>, void, undefined> {
    if (this.leftOut > 0) yield new TextEncoder().encode(`${JSON.stringify(this.#headers[0]?.header)}\n`);
    yield* this.#chunks;
  }

  /** A book of about the last `most` bytes, starting at a snapshot; undefined if there is no such snapshot. */
  shortened(most: number): LogBook | undefined {
    let [first, size] = [this.#chunks.length, 0];
    for (; first > 0 && size < most; first -= 1) size += this.#chunks[first - 1]?.length ?? 0;
    const begin = this.#chunkOf.countUpTo(first - 1);
    const snapshot = this.#snapshots.countUpTo(begin - 1);
    const from = this.#snapshots.at(snapshot);
    const part = this.#headers.findLast(({ position }) => position <= from);
    if (!(from > 0) || part === undefined) return undefined;
    const book = new LogBook();
    book.#headers = [{ header: { ...part.header, firstSeq: this.#seqs.at(from) }, position: 0 }];
    book.#nextSeq = this.#seqs.at(from);
    book.before = this.before;
    book.missed = this.missed;
    book.leftOut = this.leftOut + from;
    const chunk = this.#chunkOf.at(from);
    for (const [index, bytes] of this.#chunks.entries())
      if (index >= chunk) book.append(index === chunk ? bytes.subarray(this.#starts.at(from)) : bytes);
    book.#tail = this.#tail;
    return book;
  }

  /** The log ends: a remaining line lacks its line feed, or more of its end. */
  end(): void {
    const rest = this.#tail;
    if (this.problem !== undefined) return;
    if (rest.length === 0) {
      if (this.header === undefined) this.#failAtNext('not-a-log', 'is missing: the log is empty');
      return;
    }
    this.#tail = NOTHING;
    const isForeign = this.header === undefined && !isHeader(rest, 0);
    const isWhole = parseJson(new TextDecoder().decode(rest)) !== undefined;
    if (isWhole || isForeign) return this.#readLines(joined(rest, Uint8Array.of(LINE_FEED)));
    this.#failAtNext('truncated', 'was cut off');
  }

  /** The state of every actor after that entry, by address, the manager first. */
  foldedStates(position: number): ReadonlyMap<string, FoldedState> {
    const { fold } = this.#cursorAt(position);
    const foldedStates = new Map<string, FoldedState>();
    for (const address of fold.actors) {
      const folded = fold.stateOf(address);
      if (folded !== undefined) foldedStates.set(address, folded);
    }
    return foldedStates;
  }

  /** The state of one of them. */
  stateOf(position: number, address: string): FoldedState | undefined {
    return this.#cursorAt(position).fold.stateOf(address);
  }

  #cursorAt(position: number): Cursor {
    const wanted = Math.max(0, Math.min(position, this.length - 1));
    const index = this.#snapshots.countUpTo(wanted) - 1;
    const from = index < 0 ? 0 : this.#snapshots.at(index);
    const near = this.#cursors
      .filter((cursor) => cursor.from === from && cursor.at <= wanted)
      .sort((a, b) => b.at - a.at)[0];
    const cursor = near ?? { fold: new Fold(), from, at: from - 1 };
    // One cursor for the end, and one for the position in view.
    this.#cursors = [cursor, ...this.#cursors.filter((other) => other !== cursor)].slice(0, 2);
    for (; cursor.at < wanted; cursor.at += 1) {
      const next = this.entry(cursor.at + 1);
      if (next !== undefined) cursor.fold.take(next);
    }
    return cursor;
  }

  #readLines(lines: Uint8Array<ArrayBuffer>): void {
    const chunk = this.#chunks.push(lines) - 1;
    this.size += lines.length;
    for (let start = 0; start < lines.length && this.problem === undefined;) {
      const next = lines.indexOf(LINE_FEED, start);
      this.#readLine(lines, chunk, start, next);
      start = next + 1;
    }
  }

  #readLine(bytes: Uint8Array, chunk: number, start: number, end: number): void {
    this.#lines += 1;
    if (this.header === undefined || isHeader(bytes, start))
      return this.#readHeader(this.#scanner.text(bytes, start, end));
    const glance = this.#scanner.scan(bytes, start, end);
    if (typeof glance === 'string') return this.#fail('corrupt', glance);
    if (glance.seq < this.#nextSeq)
      return this.#fail('corrupt', `is entry ${glance.seq} instead of entry ${this.#nextSeq}`);
    this.missed += glance.seq - this.#nextSeq;
    this.#nextSeq = glance.seq + 1;
    this.#chunkOf.add(chunk);
    this.#starts.add(start);
    this.#ends.add(end);
    this.#keep(glance, this.#labels.of(bytes, start, end, glance));
  }

  #keep({ seq, at, isSnapshot, place, moved }: ScannedLine, label: number): void {
    const position = this.length;
    if (isSnapshot && !this.#wasSnapshot) this.#snapshots.add(position);
    this.#wasSnapshot = isSnapshot;
    this.#times.add(this.#time.of(at));
    this.#seqs.add(seq);
    this.#labelOf.add(label);
    const lane = place === -1 ? this.#laneOfNote(label) : this.#moveTo(position, place);
    this.#laneOf.add(lane);
    if (moved !== undefined) {
      for (const [to, state] of Object.entries(moved)) {
        const number = this.#laneNumber(to);
        this.lanes[number]?.note(position, this.#valueNumber(state));
      }
    }
    const seen = this.#labels.all[label];
    if (seen !== undefined && MARKED.has(seen.category)) this.lanes[lane]?.mark(position, label);
  }

  #laneOfNote(label: number): number {
    const { server } = this.#labels.all[label] ?? {};
    return server === undefined ? -1 : (this.#laneNumbers.get(laneOfConnection(server)) ?? -1);
  }

  /** The number of the lane of the actor. */
  #moveTo(position: number, place: number): number {
    let known = this.#places[place];
    if (known === undefined) {
      const { to, state } = this.#scanner.places[place] ?? { to: MANAGER, state: '' };
      known = { lane: this.#laneNumber(to), value: this.#valueNumber(state) };
      this.#places[place] = known;
    }
    this.lanes[known.lane]?.note(position, known.value);
    return known.lane;
  }

  #laneNumber(address: string): number {
    const name = laneAt(address);
    let number = this.#laneNumbers.get(name);
    if (number === undefined) {
      number = this.lanes.push(new Lane(name)) - 1;
      this.#laneNumbers.set(name, number);
    }
    return number;
  }

  #valueNumber(state: StateValue): number {
    const key = JSON.stringify(state);
    let number = this.#valueNumbers.get(key);
    if (number === undefined) {
      number = this.values.push(state) - 1;
      this.#valueNumbers.set(key, number);
    }
    return number;
  }

  #readHeader(text: string): void {
    const value = parseJson(text);
    const refused = versionProblem(value, this.#lines);
    if (refused !== undefined) {
      this.problem = { ...refused, line: this.#lines };
      return;
    }
    const problem = headerProblem(value as JsonObject);
    if (problem !== undefined) return this.#fail('corrupt', problem);
    const header = value as LogHeader;
    const { header: last } = this;
    if (last === undefined) this.before = header.firstSeq - 1;
    if (last === undefined || header.run !== last.run) this.#nextSeq = header.firstSeq;
    this.#headers.push({ header, position: this.length });
    this.#wasSnapshot = false;
  }

  #failAtNext(code: LogProblemCode, why: string): void {
    this.#lines += 1;
    this.#fail(code, why);
  }

  #fail(code: LogProblemCode, why: string): void {
    this.problem = { code, line: this.#lines, message: `Line ${this.#lines} ${why}.` };
  }
}

function isHeader(bytes: Uint8Array, start: number): boolean {
  for (let index = HEADER_START.length - 1; index >= 0; index -= 1)
    if (bytes[start + index] !== HEADER_START[index]) return false;
  return true;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
