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
 * B6. A header of another process begins another recording, and lines of several recordings may alternate (`merge-lines.ts`):
 *     each is folded by itself, and its machines have addresses and lanes of their own. If only `run` differs, it is another
 *     recorder of the same troupe, whose numbers do not follow from those before: a live page gets the file of a recording,
 *     and then what the page's own recorder has written.
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
import { RUN_MARK, runOfMark, SO_FAR } from '../../../src/event-log/format/merge-lines.js';
import { isReport, reportProblem, type LogReport } from '../../../src/event-log/format/report.js';
import { isSameProcess, runLabel } from '../../../src/event-log/format/runs.js';
import { Fold } from '../../../src/event-log/replay/fold.js';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import { LineScanner, type ScannedLine } from '../../../src/event-log/format/line-index.js';
import type { LogProblem, LogProblemCode } from '../../../src/event-log/format/read-log.js';
import { parseJson } from '../../../src/json/parse-json.js';
import { BookRun, type Cursor } from './book-run.js';
import { Labels, type Category, type Label } from './labels.js';
import { Lane } from './lane.js';
import { laneAt, laneOfConnection, MANAGER_LANE, ofRun, splitRun } from './lane-names.js';
import { Numbers } from './numbers.js';

const LINE_FEED = 0x0a;
const NOTHING = new Uint8Array();
const HEADER_START = new TextEncoder().encode('{"troupeLog":');
const RUN_START = new TextEncoder().encode(RUN_MARK);
const SO_FAR_START = new TextEncoder().encode(SO_FAR);
const REPORT_START = new TextEncoder().encode('{"troupeReport":');
const MARKED: ReadonlySet<Category> = new Set(['rejection', 'failure', 'call', 'list']);

export class LogBook {
  /** The first line of a report. */
  report: LogReport | undefined;
  /** Everything that the file held at first was read; what it gets later follows. */
  isCaughtUp = false;
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
  /** Number of the recording of each entry. */
  readonly #runOf = new Numbers();
  readonly #laneNumbers = new Map<string, number>([[MANAGER_LANE, 0]]);
  readonly #valueNumbers = new Map<string, number>();
  readonly #runs: BookRun[] = [];
  /** The recording of the next line. */
  #run: BookRun | undefined;
  /** The latest recording under each mark. */
  readonly #marked = new Map<string, BookRun>();
  #mark = '';
  #tail = NOTHING;
  #lines = 0;
  /** The header of each part, with the position of its first entry. */
  #headers: { readonly header: LogHeader; readonly position: number }[] = [];

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

  /** The number of the entry in its log; NaN for a position that does not exist. */
  seqOf(position: number): number {
    return this.#seqs.at(position);
  }

  /** Position of the last entry at or before that time; -1 if there is none. */
  positionAt(time: number): number {
    return this.#times.countUpTo(time) - 1;
  }

  /** Position of the entry with that number; -1 if there is none. */
  positionOf(seq: number): number {
    const position = this.#seqs.countUpTo(seq) - 1;
    return this.#seqs.at(position) === seq ? position : -1;
  }

  labelOf(position: number): Label | undefined {
    return this.#labels.all[this.#labelOf.at(position)];
  }

  labelNumber(position: number): number {
    return this.#labelOf.at(position);
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

  /** The recordings by computer and process, in the order in which they began; one has the label of its header. */
  get runs(): readonly string[] {
    return this.#runs.flatMap(({ label, header }) => label ?? (header === undefined ? [] : runLabel(header)));
  }

  /** The label of the entry's recording; undefined if there is nothing to tell apart. */
  runOf(position: number): string | undefined {
    return this.#runs[this.#runOf.at(position)]?.label;
  }

  /** The address of a machine of the entry's recording, as in `foldedStates`. */
  addressIn(position: number, address: string): string {
    const run = this.#runs[this.#runOf.at(position)];
    return run === undefined ? address : keyOf(run, address);
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
    const [run, ...others] = this.#runs;
    if (run === undefined || others.length > 0) return undefined;
    const snapshot = run.snapshots.countUpTo(begin - 1);
    const from = run.snapshots.at(snapshot);
    const part = this.#headers.findLast(({ position }) => position <= from);
    if (!(from > 0) || part === undefined) return undefined;
    const book = new LogBook();
    book.#beginPart({ ...part.header, firstSeq: this.#seqs.at(from) });
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
    const isForeign = this.header === undefined && !begins(HEADER_START, rest, 0);
    const isWhole = parseJson(new TextDecoder().decode(rest)) !== undefined;
    if (isWhole || isForeign) return this.#readLines(joined(rest, Uint8Array.of(LINE_FEED)));
    this.#failAtNext('truncated', 'was cut off');
  }

  /** The state of every actor after that entry, by address, the manager first; of later recordings, marked addresses. */
  foldedStates(position: number): ReadonlyMap<string, FoldedState> {
    const foldedStates = new Map<string, FoldedState>();
    for (const run of this.#runs) {
      if (!(run.snapshots.at(0) <= Math.max(0, position))) continue;
      const { fold } = this.#cursorAt(position, run);
      for (const address of fold.actors) {
        const folded = fold.stateOf(address);
        if (folded !== undefined) foldedStates.set(keyOf(run, address), folded);
      }
    }
    return foldedStates;
  }

  /** The state of one of them. */
  stateOf(position: number, address: string): FoldedState | undefined {
    const [plain] = splitRun(address);
    const run = this.#runs.find((each) => keyOf(each, plain) === address);
    return run === undefined ? undefined : this.#cursorAt(position, run).fold.stateOf(plain);
  }

  #cursorAt(position: number, run: BookRun): Cursor {
    const wanted = Math.max(0, Math.min(position, this.length - 1));
    const index = run.snapshots.countUpTo(wanted) - 1;
    const from = index < 0 ? 0 : run.snapshots.at(index);
    const near = run.cursors
      .filter((cursor) => cursor.from === from && cursor.at <= wanted)
      .sort((a, b) => b.at - a.at)[0];
    const cursor = near ?? { fold: new Fold(), from, at: from - 1 };
    // One cursor for the end, and one for the position in view.
    run.cursors = [cursor, ...run.cursors.filter((other) => other !== cursor)].slice(0, 2);
    for (; cursor.at < wanted; cursor.at += 1) {
      const isOwn = this.#runOf.at(cursor.at + 1) === run.number;
      const next = isOwn ? this.entry(cursor.at + 1) : undefined;
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
    if (begins(RUN_START, bytes, start)) return this.#switchRun(this.#scanner.text(bytes, start, end));
    if (begins(SO_FAR_START, bytes, start)) {
      this.isCaughtUp = true;
      return;
    }
    if (this.#lines === 1 && begins(REPORT_START, bytes, start))
      return this.#readReport(this.#scanner.text(bytes, start, end));
    const run = this.#run;
    if (run?.header === undefined || begins(HEADER_START, bytes, start))
      return this.#readHeader(this.#scanner.text(bytes, start, end));
    const glance = this.#scanner.scan(bytes, start, end);
    if (typeof glance === 'string') return this.#fail('corrupt', glance);
    if (glance.seq < run.nextSeq)
      return this.#fail('corrupt', `is entry ${glance.seq} instead of entry ${run.nextSeq}`);
    this.missed += glance.seq - run.nextSeq;
    this.#chunkOf.add(chunk);
    this.#starts.add(start);
    this.#ends.add(end);
    this.#keep(run, glance, this.#labels.of(bytes, start, end, glance));
  }

  #keep(run: BookRun, { seq, at, isSnapshot, place, moved }: ScannedLine, label: number): void {
    const position = this.length;
    if (isSnapshot && !run.wasSnapshot) run.snapshots.add(position);
    run.wasSnapshot = isSnapshot;
    run.nextSeq = seq + 1;
    const time = run.time.of(at);
    this.#times.add(position === 0 ? time : Math.max(time, this.#times.at(position - 1)));
    this.#seqs.add(seq);
    this.#runOf.add(run.number);
    this.#labelOf.add(label);
    const lane = place === -1 ? this.#laneOfNote(run, label) : this.#moveTo(run, position, place);
    this.#laneOf.add(lane);
    if (moved !== undefined) {
      for (const [to, state] of Object.entries(moved)) {
        const number = this.#laneNumber(run, to);
        this.lanes[number]?.note(position, this.#valueNumber(state));
      }
    }
    const seen = this.#labels.all[label];
    if (seen !== undefined && MARKED.has(seen.category)) this.lanes[lane]?.mark(position, label);
  }

  #laneOfNote(run: BookRun, label: number): number {
    const { server } = this.#labels.all[label] ?? {};
    return server === undefined
      ? -1
      : (this.#laneNumbers.get(ofRun(laneOfConnection(server), run.label)) ?? -1);
  }

  /** The number of the lane of the actor. */
  #moveTo(run: BookRun, position: number, place: number): number {
    let known = run.places[place];
    if (known === undefined) {
      const { to, state } = this.#scanner.places[place] ?? { to: MANAGER, state: '' };
      known = { lane: this.#laneNumber(run, to), value: this.#valueNumber(state) };
      run.places[place] = known;
    }
    this.lanes[known.lane]?.note(position, known.value);
    return known.lane;
  }

  #laneNumber(run: BookRun, address: string): number {
    const name = laneAt(keyOf(run, address));
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

  #readReport(text: string): void {
    const value = parseJson(text);
    const problem = isReport(value) ? reportProblem(value) : undefined;
    if (problem === undefined) this.report = value as LogReport;
    else this.problem = { ...problem, line: this.#lines };
  }

  #switchRun(text: string): void {
    this.#mark = runOfMark(text);
    this.#run = this.#marked.get(this.#mark) ?? this.#addRun(this.#mark);
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
    this.#beginPart(value as LogHeader);
  }

  #beginPart(header: LogHeader): void {
    const before = this.#run;
    if (this.header === undefined) this.before = header.firstSeq - 1;
    if (before === undefined) this.#run = this.#addRun(undefined);
    else if (before.header !== undefined && !isSameProcess(before.header, header))
      this.#run = this.#addRun(this.#newLabel(header));
    const run = this.#run as BookRun;
    if (run.header === undefined || run.header.run !== header.run) run.nextSeq = header.firstSeq;
    run.header = header;
    run.wasSnapshot = false;
    this.#headers.push({ header, position: this.length });
  }

  #addRun(label: string | undefined): BookRun {
    const run = new BookRun(this.#runs.length, label);
    this.#runs.push(run);
    this.#marked.set(this.#mark, run);
    return run;
  }

  #newLabel(header: LogHeader): string {
    const label = runLabel(header);
    const same = this.runs.filter((each) => each === label || each.startsWith(`${label} (`)).length;
    return same === 0 ? label : `${label} (${same + 1})`;
  }

  #failAtNext(code: LogProblemCode, why: string): void {
    this.#lines += 1;
    this.#fail(code, why);
  }

  #fail(code: LogProblemCode, why: string): void {
    this.problem = { code, line: this.#lines, message: `Line ${this.#lines} ${why}.` };
  }
}

function begins(expected: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let index = expected.length - 1; index >= 0; index -= 1)
    if (bytes[start + index] !== expected[index]) return false;
  return true;
}

/** The manager of the first recording is the manager of the page. */
function keyOf({ number, label }: BookRun, address: string): string {
  return number === 0 && address === MANAGER ? MANAGER : ofRun(address, label);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
