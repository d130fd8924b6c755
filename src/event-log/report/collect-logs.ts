/** Collects the parts of recordings for a report: finds older files, checks every line, and leaves out names of computers. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { messageOf } from '../../text/error-message.js';
import type { LogEntry, LogHeader } from '../format/entry.js';
import { bytesOf, isLogText, requireFile, sourcesOf, type LogSource } from '../format/log-source.js';
import { LogParser, type LogPiece } from '../format/read-log.js';
import type { ReportedLog } from '../format/report.js';
import { groupRuns, splitParts, type LogPart } from '../format/split-parts.js';
import { connectionName } from '../../actor-system/actor-path.js';

/** A file that is not in a report. */
export interface LeftOut {
  /** Name of the file. */
  readonly name: string;
  /** Why, for a person. */
  readonly why: string;
}

export interface CollectTerms {
  readonly hostNames: boolean;
  readonly maxBytes: number;
}

export interface CollectedLogs {
  /** Whole lines, each part with its header. */
  readonly parts: readonly Uint8Array[];
  readonly reported: readonly ReportedLog[];
  readonly leftOut: readonly LeftOut[];
}

interface Candidate {
  readonly source: LogSource;
  readonly name: string;
  /** Whether it was given, and not only found. */
  readonly isGiven: boolean;
}

interface CheckedPart extends LogPart {
  readonly name: string;
  readonly facts: PartFacts;
}

/** Rejects with an `Error` for a log that was given and cannot be read. */
export async function collectLogs(
  logs: readonly LogSource[],
  { hostNames, maxBytes }: CollectTerms,
): Promise<CollectedLogs> {
  const checked: CheckedPart[] = [];
  const leftOut: LeftOut[] = [];
  let size = 0;
  for (const candidate of await candidatesOf(logs)) {
    const { name, isGiven, source } = candidate;
    try {
      const bytes = await bytesOf(source);
      if (!isGiven && size + bytes.length > maxBytes) {
        leftOut.push({ name, why: 'the report would be too large' });
        continue;
      }
      size += bytes.length;
      for (const part of splitParts(bytes).parts) checked.push({ ...checkedPart(part), name });
    } catch (error) {
      if (isGiven) throw new Error(`'${name}' cannot be packed: ${messageOf(error)}`, { cause: error });
      leftOut.push({ name, why: messageOf(error) });
    }
  }
  const names = new HostNames();
  const runs = groupRuns(checked);
  return {
    parts: runs.flatMap(({ parts }) => parts.map((part) => (hostNames ? part.bytes : names.hide(part)))),
    reported: runs.map(({ parts }) => reportedLog(parts)),
    leftOut,
  };
}

/** What was given before what was found. */
async function candidatesOf(logs: readonly LogSource[]): Promise<readonly Candidate[]> {
  const sources = logs.length === 0 ? [] : sourcesOf(logs);
  const given = sources.map((source, index) => ({
    source,
    name: nameOf(source) ?? `log ${index + 1}`,
    isGiven: true,
  }));
  const older = await Promise.all(sources.map(olderFiles));
  const known = new Set(sources.flatMap((source) => (isFile(source) ? [resolve(requireFile(source))] : [])));
  const found = older.flat().filter((path) => !known.has(resolve(path)));
  return [...given, ...found.map((path) => ({ source: path, name: basename(path), isGiven: false }))];
}

function isFile(source: LogSource): boolean {
  if (typeof source === 'string') return !isLogText(source);
  return source instanceof URL && source.protocol === 'file:';
}

function nameOf(source: LogSource): string | undefined {
  if (isFile(source)) return basename(requireFile(source));
  return source instanceof URL ? basename(source.pathname) || source.host : undefined;
}

/** `PATH.1`, `PATH.2` and so on, as far as there is no gap: the newest first. */
async function olderFiles(source: LogSource): Promise<readonly string[]> {
  if (!isFile(source)) return [];
  const path = requireFile(source);
  const names = new Set(await readdir(dirname(resolve(path))).catch(() => []));
  const older: string[] = [];
  for (let number = 1; names.has(`${basename(path)}.${number}`); number += 1) {
    const file = `${path}.${number}`;
    if ((await stat(file)).isFile()) older.push(file);
  }
  return older;
}

/** What is known of a part once every line was read. */
interface PartFacts {
  readonly entries: number;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly connections: ReadonlySet<string>;
  readonly hasBodies: boolean;
  readonly isTruncated: boolean;
}

/** The part without a line that was cut off. Throws an `Error` for an invalid line. */
function checkedPart(part: LogPart): LogPart & { readonly facts: PartFacts } {
  const parser = new LogParser();
  const connections = new Set<string>();
  let [entries, hasBodies, isTruncated] = [0, false, false];
  let [from, to]: [number | undefined, number | undefined] = [undefined, undefined];
  const take = (piece: LogPiece): void => {
    if (piece.type === 'problem') {
      if (piece.problem.code !== 'truncated') throw new Error(piece.problem.message);
      isTruncated = true;
    } else if (piece.type === 'entry') {
      const { entry } = piece;
      entries += 1;
      from ??= entry.at;
      to = entry.at;
      hasBodies ||= entry.kind === 'note' && entry.note.type === 'wire' && entry.note['body'] !== undefined;
      for (const name of namesIn(entry)) connections.add(name);
    }
  };
  for (const piece of [...parser.push(part.bytes), ...parser.end()]) take(piece);
  const bytes = wholeLines(part.bytes);
  const facts = { entries, from, to, connections, hasBodies, isTruncated };
  return { header: part.header, bytes, size: bytes.length, facts };
}

function namesIn(entry: LogEntry): readonly string[] {
  if (entry.kind === 'note') return [];
  const derived = entry.kind === 'snapshot' ? [] : (entry.derived ?? []);
  return [entry, ...derived].flatMap(({ to }) => connectionName(to) ?? []);
}

const LINE_FEED = 0x0a;

/** Up to the last line that is whole; a line without its line feed gets one. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  if (bytes.at(-1) === LINE_FEED) return bytes;
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  const rest = new TextDecoder().decode(bytes.subarray(end));
  try {
    JSON.parse(rest);
  } catch {
    return bytes.subarray(0, end);
  }
  return new TextEncoder().encode(`${new TextDecoder().decode(bytes)}\n`);
}

function reportedLog(parts: readonly CheckedPart[]): ReportedLog {
  const last = parts.at(-1) as CheckedPart;
  const facts = parts.map((part) => part.facts);
  return {
    name: last.name,
    run: last.header.run ?? null,
    parts: parts.length,
    entries: facts.reduce((sum, { entries }) => sum + entries, 0),
    from: Math.min(...facts.map(({ from }) => from ?? Infinity), last.header.startedAt),
    to: Math.max(...facts.map(({ to }) => to ?? 0), last.header.startedAt),
    connections: [...new Set(facts.flatMap(({ connections }) => [...connections]))],
    hasBodies: facts.some(({ hasBodies }) => hasBodies),
    isTruncated: facts.some(({ isTruncated }) => isTruncated),
  };
}

/** Numbers the names of computers. The check of a log does not cover them. */
class HostNames {
  readonly #numbers = new Map<string, number>();

  /** The part with its host as a number. */
  hide({ header, bytes }: LogPart): Uint8Array {
    if (header.host === undefined) return bytes;
    const number = this.#numbers.get(header.host) ?? this.#numbers.size + 1;
    this.#numbers.set(header.host, number);
    const shown: LogHeader = { ...header, host: `host-${number}` };
    const line = new TextEncoder().encode(JSON.stringify(shown));
    const rest = bytes.subarray(bytes.indexOf(LINE_FEED));
    const whole = new Uint8Array(line.length + rest.length);
    whole.set(line);
    whole.set(rest, line.length);
    return whole;
  }
}
