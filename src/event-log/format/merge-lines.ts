/**
 * Lines of several recordings in one stream, in order of time: what the page reads if it shows several. Before the lines of
 * another recording, a line names it. Runs in a browser.
 *
 * L1. Lines are passed on as they are. Lines of one recording keep their order, whatever their times.
 * L2. Nothing throws: a line whose time cannot be read follows the one before it.
 */
import { isJsonObject } from '../../json/json-object.js';
import { parseJson } from '../../json/parse-json.js';
import { textOf } from './entry.js';

/** How the line begins that names a recording. */
export const RUN_MARK = '{"troupeRun":';

/** The line after everything that a file holds at present; what it gets later follows. */
export const SO_FAR = '{"troupeSoFar":true}';

/** The line that names the recording of the lines that follow. */
export function markOf(label: string): string {
  return `${RUN_MARK}${JSON.stringify(label)}}\n`;
}

/** The label in such a line. */
export function runOfMark(text: string): string {
  const value = parseJson(text);
  return isJsonObject(value) ? textOf(value['troupeRun']) : '';
}

/** A recording: its parts, the oldest first. */
export interface MergedRun {
  readonly label: string;
  readonly parts: readonly Uint8Array[];
}

interface Head {
  readonly run: number;
  readonly line: Uint8Array;
  readonly at: number;
}

/** Size of a piece, bytes. */
const PIECE_BYTES = 256 * 1_024;

/** Everything in those recordings, in pieces of whole lines. A last line that was cut off is left out. */
export function* mergeLines(runs: readonly MergedRun[]): Generator<Uint8Array<ArrayBuffer>, void, undefined> {
  const readers = runs.map(({ parts }, run) => linesOf(parts, run));
  const heads = readers.map((reader) => reader.next().value ?? undefined);
  const encoder = new TextEncoder();
  let last: number | undefined;
  let piece: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const head = earliest(heads);
    if (head === undefined || size > PIECE_BYTES) {
      if (size > 0) yield together(piece, size);
      [piece, size] = [[], 0];
    }
    if (head === undefined) return;
    const mark = head.run === last ? [] : [encoder.encode(markOf(runs[head.run]?.label ?? ''))];
    last = head.run;
    for (const bytes of [...mark, head.line]) {
      piece.push(bytes);
      size += bytes.length;
    }
    heads[head.run] = readers[head.run]?.next().value ?? undefined;
  }
}

function earliest(heads: readonly (Head | undefined)[]): Head | undefined {
  let first: Head | undefined;
  for (const head of heads)
    if (head !== undefined && (first === undefined || head.at < first.at)) first = head;
  return first;
}

const LINE_FEED = 0x0a;
const AT = /^\{"(?:seq":\d+,"at|at)":(-?\d+(?:\.\d+)?)/;
/** Enough for `seq` and `at`. */
const START_BYTES = 64;
const decoder = new TextDecoder();

function* linesOf(parts: readonly Uint8Array[], run: number): Generator<Head, void, undefined> {
  let at = -Infinity;
  for (const bytes of parts) {
    for (let start = 0, end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      const line = bytes.subarray(start, end + 1);
      start = end + 1;
      at = Math.max(at, timeOf(line) ?? at);
      yield { run, line, at };
    }
  }
}

/** A header counts for the time at which its part began. */
function timeOf(line: Uint8Array): number | undefined {
  const [, at] = AT.exec(decoder.decode(line.subarray(0, START_BYTES))) ?? [];
  if (at !== undefined) return Number(at);
  const value = parseJson(decoder.decode(line));
  const time = isJsonObject(value) ? (value['startedAt'] ?? value['at']) : undefined;
  return typeof time === 'number' ? time : undefined;
}

function together(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
