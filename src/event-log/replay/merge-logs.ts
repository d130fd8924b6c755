/**
 * Several recordings on one timeline, such as those of several hosts, or of one host before and after a restart.
 *
 * M1. Order is by time, then by recording, then by entry. Within a recording, times never decrease.
 * M2. Parts of one recording are joined; a part that was given twice counts once.
 * M3. Nothing is shared: a server of the same name in two recordings is two servers.
 */
import type { LogEntry, LogHeader } from '../format/entry.js';
import { bytesOf, sourcesOf, type LogSource } from '../format/log-source.js';
import type { LogReport } from '../format/report.js';
import { runLabels } from '../format/runs.js';
import { groupRuns, splitParts, type LogPart } from '../format/split-parts.js';
import { messageOf } from '../../text/error-message.js';
import { openBytes, type Moment, type OpenLog } from './open-log.js';
import type { StateChange } from './summary.js';

/** One of several recordings. */
export interface LogRun {
  /** Computer and process, such as `web-1, pid 42`; different for each recording. */
  readonly label: string;
  /** Header of its first part. */
  readonly header: LogHeader;
  /** The recording itself. */
  readonly log: OpenLog;
}

/** An entry of one of several recordings. */
export interface RunEntry {
  /** The recording that holds the entry. */
  readonly run: LogRun;
  /** Milliseconds since the epoch; never decreases within a recording. */
  readonly at: number;
  /** The entry. Its `seq` counts within its recording. */
  readonly entry: LogEntry;
}

/** A change of a connection's state in one of several recordings. */
export interface RunChange extends StateChange {
  /** The recording that holds the change. */
  readonly run: LogRun;
}

/** Several recordings on one timeline. Made by `mergeLogs`. */
export interface MergedLogs {
  /** The recordings, in the order in which they began. */
  readonly runs: readonly LogRun[];
  /** The first line of the report, if one was given. */
  readonly report: LogReport | undefined;
  /** Number of parts that were given more than once, and count once. */
  readonly duplicates: number;
  /**
   * Entries of all recordings between two times, both included, in order.
   *
   * @param from Milliseconds since the epoch. Default: from the first entry.
   * @param to Milliseconds since the epoch. Default: to the last entry.
   *
   * @example
   * ```ts
   * import { mergeLogs } from 'mcp-troupe/event-log';
   *
   * const logs = await mergeLogs(['web-1.jsonl', 'web-2.jsonl']);
   * for (const { run, entry } of logs.entries()) console.log(run.label, entry.seq);
   * ```
   */
  entries(from?: number, to?: number): Iterable<RunEntry>;
  /**
   * Every change of a connection's state between two times, both included, in order.
   *
   * @param from Milliseconds since the epoch. Default: from the first entry.
   * @param to Milliseconds since the epoch. Default: to the last entry.
   *
   * @example
   * ```ts
   * import { mergeLogs } from 'mcp-troupe/event-log';
   *
   * const logs = await mergeLogs(['web-1.jsonl', 'web-2.jsonl']);
   * for (const { run, server, to } of logs.changes()) console.log(run.label, server, to);
   * ```
   */
  changes(from?: number, to?: number): Iterable<RunChange>;
  /**
   * The state of every machine of each recording at that time. A recording that begins later has none.
   *
   * @param time Milliseconds since the epoch.
   *
   * @example
   * ```ts
   * import { mergeLogs } from 'mcp-troupe/event-log';
   *
   * const logs = await mergeLogs(['web-1.jsonl', 'web-2.jsonl']);
   * for (const [{ label }, { machines }] of logs.at(Date.now())) console.log(label, machines.size);
   * ```
   */
  at(time: number): ReadonlyMap<LogRun, Moment>;
}

/**
 * Opens logs of several recordings, in any order: whole logs, parts, and reports. All of them are kept in memory. The clocks
 * of the computers are taken as they are.
 *
 * @param logs Path, URL, text, bytes or stream of each.
 *
 * @throws `TypeError` if one is none of these; an `Error` if one does not begin like a log, with its number in the list; what
 *   the file, the download or the stream throws.
 *
 * @example
 * ```ts
 * import { mergeLogs } from 'mcp-troupe/event-log';
 *
 * const { runs } = await mergeLogs(['web-1.jsonl', 'web-2.jsonl']);
 * for (const { label, log } of runs) console.log(label, log.connections);
 * ```
 */
export async function mergeLogs(logs: readonly LogSource[]): Promise<MergedLogs> {
  const parts: LogPart[] = [];
  let report: LogReport | undefined;
  for (const [index, source] of sourcesOf(logs).entries()) {
    const split = splitNumbered(await bytesOf(source), index + 1);
    parts.push(...split.parts);
    report ??= split.report;
  }
  return new Merged(parts, report);
}

function splitNumbered(bytes: Uint8Array, number: number): ReturnType<typeof splitParts> {
  try {
    return splitParts(bytes);
  } catch (error) {
    throw new Error(`Log ${number} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

class Merged implements MergedLogs {
  readonly runs: readonly LogRun[];
  readonly duplicates: number;

  constructor(
    parts: readonly LogPart[],
    readonly report: LogReport | undefined,
  ) {
    const runs = groupRuns(parts);
    const headers = runs.map(({ parts: [first] }) => (first as LogPart).header);
    const labels = runLabels(headers);
    this.runs = runs.map(({ parts: own }, index) => ({
      label: labels[index] as string,
      header: headers[index] as LogHeader,
      log: openBytes(...own.map(({ bytes }) => bytes)),
    }));
    this.duplicates = runs.reduce((sum, { duplicates }) => sum + duplicates.length, 0);
  }

  entries(from = -Infinity, to = Infinity): Iterable<RunEntry> {
    return byTime(this.runs.map((run) => entriesOf(run, from, to)));
  }

  changes(from = -Infinity, to = Infinity): Iterable<RunChange> {
    return byTime(this.runs.map((run) => changesOf(run, from, to)));
  }

  at(time: number): ReadonlyMap<LogRun, Moment> {
    const moments = this.runs.flatMap((run) => {
      const entry = run.log.entryAt(time);
      return entry < run.log.first ? [] : [[run, run.log.at(entry)] as const];
    });
    return new Map(moments);
  }
}

function* entriesOf(run: LogRun, from: number, to: number): Generator<RunEntry, void, undefined> {
  const { log } = run;
  for (let number = firstSince(log, from); number <= log.entryAt(to); number += 1)
    for (const entry of log.entries(number, number)) yield { run, at: log.timeOf(number), entry };
}

function* changesOf(run: LogRun, from: number, to: number): Generator<RunChange, void, undefined> {
  const { log } = run;
  for (const change of log.changes(firstSince(log, from), log.entryAt(to))) yield { run, ...change };
}

/** The first entry at or after that time. */
function firstSince(log: OpenLog, time: number): number {
  let first = log.entryAt(time);
  while (first > log.first && log.timeOf(first - 1) === time) first -= 1;
  return first < log.first || log.timeOf(first) < time ? first + 1 : first;
}

/** Merges lists that are each in order of time. Of equal times, the earlier list comes first. */
export function* byTime<T extends { readonly at: number }>(
  lists: readonly Iterable<T>[],
): Generator<T, void, undefined> {
  const iterators = lists.map((list) => list[Symbol.iterator]());
  const heads = iterators.map((iterator) => iterator.next());
  for (;;) {
    let least: number | undefined;
    for (const [index, head] of heads.entries()) {
      if (head.done === true) continue;
      const best = least === undefined ? undefined : heads[least];
      if (best?.done !== false || head.value.at < best.value.at) least = index;
    }
    if (least === undefined) return;
    const { value } = heads[least] as IteratorYieldResult<T>;
    heads[least] = (iterators[least] as Iterator<T>).next();
    yield value;
  }
}
