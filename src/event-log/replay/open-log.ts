/**
 * A log in memory, with access to any moment: by entry, by time, forwards and backwards. Runs in a browser. Longer than 300
 * lines because it documents the public `OpenLog`, with an example for each method.
 *
 * G1. Opening parses only headers (`line-index.ts`); other lines are parsed on demand.
 * G2. A moment is folded from the snapshot before it, so it costs no more than the entries between two snapshots.
 * G3. Nothing in a log makes it throw. Everything before an invalid line can be read.
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
  versionProblem,
} from '../format/entry.js';
import { Fold } from './fold.js';
import type { FoldedState } from './folded-actor.js';
import { LineScanner, linesOf, type ActorState, type ScannedLine } from '../format/line-index.js';
import { bytesOf, sourcesOf, type LogSource } from '../format/log-source.js';
import type { LogProblem } from '../format/read-log.js';
import { MonotonicTime } from '../format/monotonic-time.js';
import type { StateChange } from './summary.js';

/** The state of every machine after one entry. */
export interface Moment {
  /** The entry that was read last; undefined if nothing precedes the moment. */
  readonly entry: LogEntry | undefined;
  /** Every machine that exists at this moment, by address. The manager comes first. */
  readonly machines: ReadonlyMap<string, FoldedState>;
}

/** A log that can be read at any moment. Made by `openLog`. */
export interface OpenLog {
  /** Header of the first part; undefined if that part cannot be read. */
  readonly header: LogHeader | undefined;
  /** Number (`seq`) of the first entry that can be read. */
  readonly first: number;
  /** Number (`seq`) of the last entry that can be read; less than `first` if there is none. */
  readonly last: number;
  /** Names of the connections, in the order of their first appearance. */
  readonly connections: readonly string[];
  /** Why the log ends before its last line; undefined if all of it can be read. */
  readonly problem: LogProblem | undefined;
  /**
   * Time of an entry, milliseconds since the epoch; NaN if the entry does not exist. Times never decrease,
   * even if the clock was set back.
   *
   * @param entry Number (`seq`) of the entry.
   *
   * @example
   * ```ts
   * import { openLog } from 'mcp-troupe/event-log';
   *
   * const log = await openLog('troupe.log');
   * console.log(new Date(log.timeOf(log.last)));
   * ```
   */
  timeOf(entry: number): number;
  /**
   * Number of the last entry at or before that time; less than `first` if there is none.
   *
   * @param time Milliseconds since the epoch.
   *
   * @example
   * ```ts
   * import { openLog } from 'mcp-troupe/event-log';
   *
   * const log = await openLog('troupe.log');
   * const { machines } = log.at(log.entryAt(Date.now() - 60_000));
   * ```
   */
  entryAt(time: number): number;
  /**
   * Entries from one number to another, both included.
   *
   * @param from Number of the first entry; a smaller number than `first` counts as `first`.
   * @param to Number of the last entry; a larger number than `last` counts as `last`.
   *
   * @example
   * ```ts
   * import { openLog } from 'mcp-troupe/event-log';
   *
   * const log = await openLog('troupe.log');
   * for (const { seq, kind } of log.entries(log.first, log.first + 9)) console.log(seq, kind);
   * ```
   */
  entries(from: number, to: number): readonly LogEntry[];
  /**
   * The state of every machine after that entry.
   *
   * @param entry Number (`seq`) of the entry; a number outside the log counts as `first` or `last`.
   *
   * @example
   * ```ts
   * import { openLog } from 'mcp-troupe/event-log';
   *
   * const log = await openLog('troupe.log');
   * for (const [address, { state }] of log.at(log.last).machines) console.log(address, state);
   * ```
   */
  at(entry: number): Moment;
  /**
   * Every change of a connection's state between two entries, both included. Default: all changes. The first change
   * of a connection begins with its state before `from`, or with null if the connection did not exist.
   *
   * @param from Number of the first entry. Default: `first`.
   * @param to Number of the last entry. Default: `last`.
   *
   * @example
   * ```ts
   * import { openLog } from 'mcp-troupe/event-log';
   *
   * const log = await openLog('troupe.log');
   * for (const { server, from, to } of log.changes()) console.log(server, from, to);
   * ```
   */
  changes(from?: number, to?: number): Iterable<StateChange>;
}

/**
 * Opens a log, or its parts, the oldest first. All of it is kept in memory; lines are parsed on demand.
 *
 * @param log Path, URL, text, bytes or stream of the log, or a list of its parts. Bytes are not copied, so they must not
 *   change.
 *
 * @throws `TypeError` if the log is none of these; what the file, the download or the stream throws, if it cannot be read.
 *
 * @example
 * ```ts
 * import { openLog } from 'mcp-troupe/event-log';
 *
 * const log = await openLog('troupe.log');
 * for (const change of log.changes()) console.log(change);
 * ```
 */
export async function openLog(log: LogSource | readonly LogSource[]): Promise<OpenLog> {
  const parts: Uint8Array[] = [];
  for (const source of sourcesOf(log)) parts.push(await bytesOf(source));
  return openBytes(...parts);
}

/** The same for bytes in memory, without waiting. */
export function openBytes(...parts: readonly Uint8Array[]): OpenLog {
  return new Log(parts);
}

/** A fold that has applied the entry `at`, and began with the snapshot at `from`. */
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
  readonly #time = new MonotonicTime();
  #places = new Int32Array(0);
  readonly #moved = new Map<number, readonly ActorState[]>();
  /** The first entries of snapshots, in order. */
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
    const part = this.#parts.findLast(({ first }) => first <= number);
    if (part === undefined || number > this.last) return undefined;
    const { bytes, first, starts } = part;
    const line = number - first + 1;
    const text = this.#scanner.text(bytes, starts[line] ?? 0, (starts[line + 1] ?? 0) - 1);
    const value = parseJson(text, FILE_LIMITS);
    return isJsonObject(value) && entryProblem(value) === undefined
      ? (value as unknown as LogEntry)
      : undefined;
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
      return this.#fail('corrupt', 1, `begins with entry ${header.firstSeq} instead of entry ${first}`);
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

  #readHeader(text: string): LogHeader | undefined {
    const value = parseJson(text, FILE_LIMITS);
    const refused = versionProblem(value, 1);
    if (refused !== undefined) {
      this.problem = { ...refused, line: 1 };
      return undefined;
    }
    const problem = headerProblem(value as JsonObject);
    if (problem === undefined) return value as LogHeader;
    this.#fail('corrupt', 1, problem);
    return undefined;
  }

  #fail(code: LogProblem['code'], line: number, why: string): void {
    const part = this.#parts.length > 1 ? `Part ${this.#parts.length}, line` : 'Line';
    this.problem = { code, line, message: `${part} ${line} ${why}.` };
  }
}

function misplaced({ seq, isSnapshot }: ScannedLine, line: number, expected: number): string | undefined {
  if (seq !== expected) return `is entry ${seq} instead of entry ${expected}`;
  return line === 1 && !isSnapshot ? 'is not a snapshot, but a log must begin with one' : undefined;
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
