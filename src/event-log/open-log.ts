/**
 * A log in memory, of which any moment can be looked at: by entry, by time, forwards and backwards. Runs in a browser.
 *
 * G1. Opening reads no line whole but the headers (`line-index.ts`); what is asked for is read then.
 * G2. A moment is folded from the snapshot before it, so it costs no more than the entries between two snapshots.
 * G3. Nothing in a log makes it throw. What stands before the line that is not right can be looked at.
 */
import { parseJson } from '../parse-json.js';
import { connectionName } from './address.js';
import { stateText } from './divergence.js';
import { entryProblem, headerProblem, isObject, LOG_FORMAT, type LogEntry, type LogHeader } from './entry.js';
import { Fold } from './fold.js';
import type { Standing } from './folded-actor.js';
import { LineScanner, linesOf, type ActorState, type Glance } from './line-index.js';
import type { LogProblem } from './log-problem.js';
import { SteadyTime } from './steady-time.js';
import type { StateChange } from './summary.js';

/** How everything stood after one entry. */
export interface Moment {
  readonly entry: LogEntry | undefined;
  /** Every machine that there is, the manager first, by address. */
  readonly machines: ReadonlyMap<string, Standing>;
}

export interface OpenLog {
  /** Of the first part; undefined where there is none that can be read. */
  readonly header: LogHeader | undefined;
  /** Number (`seq`) of the first entry that can be looked at, and of the last; none where `last` is less than `first`. */
  readonly first: number;
  readonly last: number;
  /** Names of the connections, in the order in which they come up. */
  readonly connections: readonly string[];
  /** Why it ends before its last line. */
  readonly problem: LogProblem | undefined;
  /**
   * When an entry was written, milliseconds since the epoch; NaN for one that does not exist. Where the clock was set
   * back, time goes on: none is earlier than the one before.
   */
  timeOf(entry: number): number;
  /** Number of the last entry of that time or before; less than `first` where there is none. */
  entryAt(time: number): number;
  /** Those from one to the other, which is included. */
  entries(from: number, to: number): readonly LogEntry[];
  /** How everything stood after that entry. */
  at(entry: number): Moment;
  /** Every change of a connection's state from one entry to another, which is included. Default: all. */
  changes(from?: number, to?: number): Iterable<StateChange>;
}

/** Opens the bytes of a log, or of its parts, the oldest first. */
export function openLog(...parts: readonly Uint8Array[]): OpenLog {
  return new Log(parts);
}

/** A fold that stands after the entry `at`, and began with the snapshot at `from`. */
interface Cursor {
  readonly fold: Fold;
  readonly from: number;
  at: number;
}

class Log implements OpenLog {
  header: LogHeader | undefined;
  problem: LogProblem | undefined;
  #length = 0;
  readonly #scanner = new LineScanner();
  readonly #parts: { readonly bytes: Uint8Array; readonly first: number; readonly starts: Float64Array }[] =
    [];
  #times = new Float64Array(0);
  readonly #time = new SteadyTime();
  #places = new Int32Array(0);
  readonly #moved = new Map<number, readonly ActorState[]>();
  /** Entries that a snapshot begins with, in order. */
  readonly #snapshots: number[] = [];
  #cursor: Cursor | undefined;

  constructor(parts: readonly Uint8Array[]) {
    for (const bytes of parts) if (this.problem === undefined) this.#addPart(bytes);
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
    const machines = new Map<string, Standing>();
    for (const address of cursor.fold.actors) {
      const standing = cursor.fold.standing(address);
      if (standing !== undefined) machines.set(address, standing);
    }
    return { entry: this.#entry(wanted), machines };
  }

  *changes(from: number = this.first, to: number = this.last): Generator<StateChange, void, undefined> {
    const states = new Map<string, string>();
    const texts = this.#scanner.places.map(({ state }) => stateText(state));
    for (let entry = Math.max(this.first, from); entry <= Math.min(to, this.last); entry += 1) {
      const place = this.#places[entry - this.first] ?? -1;
      const own = this.#scanner.places[place];
      if (own !== undefined) yield* this.#change(entry, own.to, texts[place] ?? '', states);
      for (const { to: address, state } of this.#moved.get(entry) ?? [])
        yield* this.#change(entry, address, stateText(state), states);
    }
  }

  *#change(entry: number, address: string, to: string, states: Map<string, string>): Generator<StateChange> {
    const before = states.get(address);
    if (before === to) return;
    states.set(address, to);
    const connection = connectionName(address);
    if (connection === undefined) return;
    yield { entry, at: this.timeOf(entry), connection, from: before ?? null, to };
  }

  /** The last one goes on where nothing comes between but entries to be played. */
  #cursorFor(wanted: number): Cursor {
    const from = this.#snapshots[countUpTo(wanted, this.#snapshots) - 1] ?? this.first;
    const last = this.#cursor;
    const canGoOn = last?.from === from && last.at <= wanted;
    this.#cursor = canGoOn ? last : { fold: new Fold(), from, at: from - 1 };
    return this.#cursor;
  }

  #entry(number: number): LogEntry | undefined {
    const part = this.#parts.findLast(({ first }) => first <= number);
    if (part === undefined || number > this.last) return undefined;
    const { bytes, first, starts } = part;
    const line = number - first + 1;
    const text = this.#scanner.text(bytes, starts[line] ?? 0, (starts[line + 1] ?? 0) - 1);
    const value = parseJson(text);
    return isObject(value) && entryProblem(value) === undefined ? (value as unknown as LogEntry) : undefined;
  }

  #addPart(bytes: Uint8Array): void {
    const { starts, isLastWhole } = linesOf(bytes);
    const header = this.#readHeader(this.#scanner.text(bytes, 0, Math.max(0, (starts[1] ?? 1) - 1)));
    if (header === undefined) return;
    this.header ??= header;
    const first = this.last + 1;
    const count = starts.length - 2;
    this.#parts.push({ bytes, first, starts });
    if (header.firstSeq !== first)
      return this.#fail('corrupt', 1, `begins with entry ${header.firstSeq}, where entry ${first} should be`);
    this.#times = grown(this.#times, new Float64Array(this.#length + count));
    this.#places = grown(this.#places, new Int32Array(this.#length + count));
    let wasSnapshot = false;
    for (let line = 1; line <= count; line += 1) {
      const glance = this.#scanner.scan(bytes, starts[line] ?? 0, (starts[line + 1] ?? 0) - 1);
      const isCut = typeof glance === 'string' && line === count && !isLastWhole;
      if (isCut) return this.#fail('truncated', line + 1, 'was cut off');
      const problem = typeof glance === 'string' ? glance : misplaced(glance, line, this.last + 1);
      if (typeof glance === 'string' || problem !== undefined)
        return this.#fail('corrupt', line + 1, problem ?? '');
      this.#keep(glance, glance.isSnapshot && !wasSnapshot);
      wasSnapshot = glance.isSnapshot;
    }
  }

  #keep({ at, place, moved }: Glance, beginsSnapshot: boolean): void {
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

  #readHeader(text: string): LogHeader | undefined {
    const value = parseJson(text);
    const version = isObject(value) ? Number(value['troupeLog']) : NaN;
    if (!isObject(value) || !Number.isSafeInteger(version))
      this.#fail('not-a-log', 1, 'is not the header of an event log');
    else if (version > LOG_FORMAT)
      this.#fail('newer', 1, `says format ${version}, and ${LOG_FORMAT} is read here`);
    else {
      const problem = headerProblem(value);
      if (problem === undefined) return value as unknown as LogHeader;
      this.#fail('corrupt', 1, problem);
    }
    return undefined;
  }

  #fail(code: LogProblem['code'], line: number, why: string): void {
    const part = this.#parts.length > 1 ? `Part ${this.#parts.length}, line` : 'Line';
    this.problem = { code, line, message: `${part} ${line} ${why}.` };
  }
}

function misplaced({ seq, isSnapshot }: Glance, line: number, expected: number): string | undefined {
  if (seq !== expected) return `is entry ${seq}, where entry ${expected} should be`;
  return line === 1 && !isSnapshot ? 'is no snapshot, and a log begins with one' : undefined;
}

/** How many of what is in order are no greater than that. */
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
