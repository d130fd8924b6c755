/**
 * Indexes the lines of a log without parsing them: time, actor and state. Reads a million entries in a third of the
 * time of parsing their JSON. Runs in a browser.
 *
 * I1. A recorder's lines begin `{"seq":…,"at":…,"kind":…,"to":…,"state":…`. Any other line is parsed.
 * I2. Lines are numbered by `seq` without gaps; at a gap, the log ends with a problem.
 */
import { isJsonObject } from '../../json/json-object.js';
import type { StateValue } from 'xstate';
import { FILE_LIMITS, parseJson } from '../../json/parse-json.js';
import { isAddress } from '../../actor-system/actor-path.js';
import { entryProblem, isMoved, isState, isTime, type LogEntry } from './entry.js';

/** An actor in a state, shared by many lines. */
export interface ActorState {
  readonly to: string;
  readonly state: StateValue;
}

/** The facts of a line that need no parsing. */
export interface ScannedLine {
  readonly seq: number;
  readonly at: number;
  readonly isSnapshot: boolean;
  /** Number of its `ActorState`; -1 for a note. */
  readonly place: number;
  readonly moved: Readonly<Record<string, StateValue>> | undefined;
  /** Where its kind begins, after the quote, and where the scan ended; -1 for a line that had to be parsed. */
  readonly kindAt: number;
  readonly seenTo: number;
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const ZERO = 0x30;
const NINE = 0x39;
const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const SEQ = toBytes('{"seq":');
const AT = toBytes(',"at":');
const KIND = toBytes(',"kind":"');
const NOTE = toBytes('note"');
const SNAPSHOT = toBytes('snapshot"');
const TO = toBytes('","to":');
const STATE = toBytes(',"state":');
const MOVED = toBytes(',"moved":');

/** Where each line begins and ends, without its line feed. */
export function linesOf(bytes: Uint8Array): { readonly starts: Float64Array; readonly isLastWhole: boolean } {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  const isLastWhole = bytes.length === 0 || bytes.at(-1) === LINE_FEED;
  const starts = new Float64Array(count + (isLastWhole ? 1 : 2));
  let line = 1;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
    starts[line] = at + 1;
    line += 1;
  }
  if (!isLastWhole) starts[line] = bytes.length + 1;
  return { starts, isLastWhole };
}

/** An address, `,"state":` and a state, as bytes. */
interface LinePosition {
  readonly number: number;
  readonly bytes: Uint8Array;
  /** The position that followed the last time. */
  next: LinePosition | undefined;
}

/** The positions of one actor. */
interface LinePositions {
  readonly all: LinePosition[];
  last: LinePosition | undefined;
}

export class LineScanner {
  readonly places: ActorState[] = [];
  readonly #decoder = new TextDecoder();
  /** By hash of the address. */
  readonly #byHash = new Map<number, LinePositions>();
  #bytes: Uint8Array = new Uint8Array();
  #end = 0;
  #cursor = 0;

  /** The facts of a line, or why it is invalid, as the rest of a sentence. */
  scan(bytes: Uint8Array, start: number, end: number): ScannedLine | string {
    this.#bytes = bytes;
    this.#cursor = start;
    this.#end = end;
    return this.#quick() ?? this.#slow(start, end);
  }

  text(bytes: Uint8Array, start: number, end: number): string {
    return this.#decoder.decode(bytes.subarray(start, end));
  }

  #quick(): ScannedLine | undefined {
    if (this.#bytes[this.#end - 1] !== CLOSE || !this.#skip(SEQ)) return undefined;
    const seq = this.#digits();
    if (!this.#skip(AT)) return undefined;
    const at = this.#digits();
    if (!(seq >= 0) || !isTime(at) || !this.#skip(KIND)) return undefined;
    const kindAt = this.#cursor;
    if (this.#skip(NOTE))
      return { seq, at, isSnapshot: false, place: -1, moved: undefined, kindAt, seenTo: this.#cursor };
    const isSnapshot = this.#isAhead(SNAPSHOT);
    if (!this.#seek(QUOTE) || !this.#skip(TO)) return undefined;
    const place = this.#place();
    const hasMoved = this.#skip(MOVED);
    const moved = hasMoved ? this.#moved() : undefined;
    if (place === undefined || (hasMoved && moved === undefined)) return undefined;
    if (this.#bytes[this.#cursor] !== COMMA) return undefined;
    return { seq, at, isSnapshot, place, moved, kindAt, seenTo: this.#cursor };
  }

  #slow(start: number, end: number): ScannedLine | string {
    const value = parseJson(this.text(this.#bytes, start, end), FILE_LIMITS);
    if (value === undefined) return 'is not JSON';
    if (!isJsonObject(value)) return 'is not an object';
    const problem = entryProblem(value);
    if (problem !== undefined) return problem;
    const entry = value as unknown as LogEntry;
    const { seq, at } = entry;
    const unseen = { kindAt: -1, seenTo: -1 };
    if (entry.kind === 'note') return { seq, at, isSnapshot: false, place: -1, moved: undefined, ...unseen };
    const { to, state, kind } = entry;
    const place = this.#numberOf(to, state);
    const moved = 'moved' in entry ? entry.moved : undefined;
    return { seq, at, isSnapshot: kind === 'snapshot', place, moved, ...unseen };
  }

  #numberOf(to: string, state: StateValue): number {
    const bytes = toBytes(`${JSON.stringify(to)},"state":${JSON.stringify(state)}`);
    const known = this.#knownBy(hashOf(bytes, 0));
    const found = known.all.find((each) => isAt(each.bytes, bytes, 0));
    return found?.number ?? this.#add(known, bytes, { to, state });
  }

  #isAhead(expected: Uint8Array): boolean {
    for (let index = 0; index < expected.length; index += 1) {
      if (this.#bytes[this.#cursor + index] !== expected[index]) return false;
    }
    return true;
  }

  #skip(expected: Uint8Array): boolean {
    if (!this.#isAhead(expected)) return false;
    this.#cursor += expected.length;
    return true;
  }

  /** Moves to that byte, and not past it. */
  #seek(byte: number): boolean {
    while (this.#cursor < this.#end && this.#bytes[this.#cursor] !== byte) this.#cursor += 1;
    return this.#cursor < this.#end;
  }

  /** NaN if there is no number. */
  #digits(): number {
    let value = NaN;
    for (let byte = this.#bytes[this.#cursor] ?? 0; byte >= ZERO && byte <= NINE;) {
      value = (Number.isNaN(value) ? 0 : value * 10) + byte - ZERO;
      this.#cursor += 1;
      byte = this.#bytes[this.#cursor] ?? 0;
    }
    return value;
  }

  /** Moves past one text or object. */
  #value(): boolean {
    let depth = 0;
    do {
      const byte = this.#bytes[this.#cursor];
      if (byte === QUOTE) {
        if (!this.#string()) return false;
      } else {
        if (byte === OPEN) depth += 1;
        else if (byte === CLOSE) depth -= 1;
        else if (depth === 0) return false;
        this.#cursor += 1;
      }
    } while (depth > 0 && this.#cursor < this.#end);
    return depth === 0;
  }

  #string(): boolean {
    this.#cursor += 1;
    while (this.#seek(QUOTE)) {
      this.#cursor += 1;
      let back = 0;
      while (this.#bytes[this.#cursor - 2 - back] === BACKSLASH) back += 1;
      if (back % 2 === 0) return true;
    }
    return false;
  }

  #moved(): ScannedLine['moved'] {
    const from = this.#cursor;
    if (!this.#value()) return undefined;
    const value = parseJson(this.text(this.#bytes, from, this.#cursor), FILE_LIMITS);
    return isMoved(value) ? value : undefined;
  }

  /**
   * Moves past an address, `,"state":` and a state. No JSON value is a prefix of another, so known text is not read
   * again.
   */
  #place(): number | undefined {
    const from = this.#cursor;
    const known = this.#knownBy(hashOf(this.#bytes, from));
    const found = this.#find(known, from);
    if (found === undefined) return this.#newPlace(from, known);
    this.#cursor += found.bytes.length;
    return found.number;
  }

  /** An actor moves between few states: the last successor is tried first. */
  #find(known: LinePositions, from: number): LinePosition | undefined {
    const { all, last } = known;
    let found = last?.next;
    if (found === undefined || !isAt(found.bytes, this.#bytes, from)) {
      found = undefined;
      for (let index = 0; index < all.length && found === undefined; index += 1) {
        const place = all[index];
        if (place !== undefined && isAt(place.bytes, this.#bytes, from)) found = place;
      }
    }
    if (last !== undefined) last.next = found;
    known.last = found;
    return found;
  }

  #newPlace(from: number, known: LinePositions): number | undefined {
    if (!this.#value() || !this.#isAhead(STATE)) return undefined;
    const between = this.#cursor;
    this.#cursor += STATE.length;
    if (!this.#value()) return undefined;
    const to = parseJson(this.text(this.#bytes, from, between), FILE_LIMITS);
    const state = parseJson(this.text(this.#bytes, between + STATE.length, this.#cursor), FILE_LIMITS);
    if (!isAddress(to) || !isState(state)) return undefined;
    // A copy, because the original bytes may be released.
    return this.#add(known, this.#bytes.slice(from, this.#cursor), { to, state });
  }

  #knownBy(hash: number): LinePositions {
    let known = this.#byHash.get(hash);
    if (known === undefined) this.#byHash.set(hash, (known = { all: [], last: undefined }));
    return known;
  }

  #add(known: LinePositions, bytes: Uint8Array, place: ActorState): number {
    const number = this.places.push(place) - 1;
    known.last = { number, bytes, next: undefined };
    known.all.push(known.last);
    return number;
  }
}

/** The hash of the text that begins there. */
function hashOf(bytes: Uint8Array, from: number): number {
  let hash = 0;
  let at = from + 1;
  for (let byte = bytes[at]; byte !== undefined && byte !== QUOTE; byte = bytes[at]) {
    hash = Math.imul(hash ^ byte, 2_654_435_761);
    at += byte === BACKSLASH ? 2 : 1;
  }
  return hash;
}

function isAt(expected: Uint8Array, bytes: Uint8Array, from: number): boolean {
  // From the end: if one is longer than the other, they differ there.
  for (let index = expected.length - 1; index >= 0; index -= 1)
    if (expected[index] !== bytes[from + index]) return false;
  return true;
}
