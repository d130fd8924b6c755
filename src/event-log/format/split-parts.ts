/** Finds the parts in the bytes of a file: one in a log, any number in a report. Runs in a browser. */
import { FILE_LIMITS, parseJson } from '../../json/parse-json.js';
import { isJsonObject } from '../../json/json-object.js';
import { headerProblem, versionProblem, type LogHeader } from './entry.js';
import { isReport, reportProblem, type LogReport } from './report.js';
import { isSameRun } from './runs.js';

/** One part of a recording. */
export interface LogPart {
  readonly header: LogHeader;
  readonly bytes: Uint8Array;
  /** Size in bytes. */
  readonly size: number;
}

const LINE_FEED = 0x0a;
const HEADER_START = new TextEncoder().encode('{"troupeLog":');

/** The parts, and the first line of a report. Throws an `Error` that says why a header cannot be read. */
export function splitParts(bytes: Uint8Array): {
  readonly report: LogReport | undefined;
  readonly parts: readonly LogPart[];
} {
  const report = reportOf(bytes);
  const starts = report === undefined ? [0] : headerStarts(bytes);
  const parts = starts.map((start, index) => {
    const part = bytes.subarray(start, starts[index + 1]);
    return { header: headerOf(part), bytes: part, size: part.length };
  });
  return { report, parts };
}

/** Where the lines begin that are headers. */
function headerStarts(bytes: Uint8Array): readonly number[] {
  const starts: number[] = [];
  for (let feed = bytes.indexOf(LINE_FEED); feed !== -1; feed = bytes.indexOf(LINE_FEED, feed + 1))
    if (HEADER_START.every((byte, index) => bytes[feed + 1 + index] === byte)) starts.push(feed + 1);
  return starts;
}

function firstLineOf(bytes: Uint8Array): unknown {
  const end = bytes.indexOf(LINE_FEED);
  const text = new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
  return parseJson(text, FILE_LIMITS);
}

function reportOf(bytes: Uint8Array): LogReport | undefined {
  const value = firstLineOf(bytes);
  if (!isReport(value)) return undefined;
  const problem = reportProblem(value);
  if (problem !== undefined) throw new Error(problem.message);
  return value as unknown as LogReport;
}

function headerOf(bytes: Uint8Array): LogHeader {
  const value = firstLineOf(bytes);
  const refused = versionProblem(value, 1);
  if (refused !== undefined) throw new Error(refused.message);
  const problem = isJsonObject(value) ? headerProblem(value) : undefined;
  if (problem !== undefined) throw new Error(`Line 1 ${problem}.`);
  return value as LogHeader;
}

interface Sized {
  readonly header: LogHeader;
  /** Size in bytes. */
  readonly size: number;
}

/** The parts of one recording, in order. */
export interface RunParts<T> {
  readonly parts: readonly T[];
  /** Parts that were given more than once. Of each, the longest counts. */
  readonly duplicates: readonly T[];
}

/** Groups parts by their recordings, which are in the order in which they began. */
export function groupRuns<T extends Sized>(parts: readonly T[]): readonly RunParts<T>[] {
  const runs: T[][] = [];
  for (const part of parts) {
    const own = runs.find(([first]) => first !== undefined && isSameRun(first.header, part.header));
    if (own === undefined) runs.push([part]);
    else own.push(part);
  }
  return runs
    .map((all) => {
      const longest = all.toSorted((a, b) => a.header.part - b.header.part || b.size - a.size);
      const isAgain = (part: T, index: number): boolean =>
        index > 0 && longest[index - 1]?.header.part === part.header.part;
      return {
        parts: longest.filter((part, index) => !isAgain(part, index)),
        duplicates: longest.filter(isAgain),
      };
    })
    .toSorted((a, b) => beginOf(a) - beginOf(b));
}

function beginOf({ parts }: RunParts<Sized>): number {
  return parts[0]?.header.startedAt ?? 0;
}
