/**
 * A log in memory, with access to any moment: by entry, by time, forwards and backwards. Runs in a browser, if no file is
 * followed.
 */
import { bytesOf, requireFile, sourcesOf, type LogSource } from '../format/log-source.js';
import type { LogEntry, LogHeader } from '../format/entry.js';
import type { LogProblem } from '../format/read-log.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';
import { systemClock } from '../../ports.js';
import type { FoldedState } from './folded-actor.js';
import { FollowedLogIndex } from './followed-log.js';
import { LogIndex } from './log-index.js';
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

/** Options of `openLog`. */
export interface OpenOptions {
  /** Goes on reading as the file grows, see `FollowedLog`. Default false. */
  readonly follow?: boolean;
  /** Ends the following; the log stays open. Default: none. */
  readonly signal?: AbortSignal;
}

/** Options of `openLog` for a log that is followed. */
export interface FollowOptions extends OpenOptions {
  /** The log is followed. */
  readonly follow: true;
}

/**
 * A log that grows while it is written. It ends with its recording: when the recording says so, when another one takes its
 * place in the file, when `signal` aborts, and when a loop over it is left. What was read can still be read then.
 *
 * Until then, it keeps the process running.
 */
export interface FollowedLog extends OpenLog, AsyncDisposable {
  /** Whether more may come. */
  readonly isFollowing: boolean;
  /**
   * Entries from the first one on, each as soon as it is written. Leaving the loop ends the following.
   *
   * @example
   * ```ts
   * import { openLog } from 'mcp-troupe/event-log';
   *
   * const log = await openLog('troupe.log', { follow: true });
   * for await (const { seq, kind } of log) console.log(seq, kind);
   * ```
   */
  [Symbol.asyncIterator](): AsyncGenerator<LogEntry, void, undefined>;
  /**
   * Ends the following. Idempotent; never rejects.
   *
   * @example
   * ```ts
   * import { openLog } from 'mcp-troupe/event-log';
   *
   * const log = await openLog('troupe.log', { follow: true });
   * await log.close();
   * ```
   */
  close(): Promise<void>;
}

const OPTIONS: OptionNames<OpenOptions> = { follow: true, signal: true };

/**
 * Opens a log, or its parts, the oldest first. All of it is kept in memory; lines are parsed on demand. Of a report, the first
 * recording is opened; `mergeLogs` opens all.
 *
 * @param log Path, URL, text, bytes or stream of the log, or a list of its parts. Bytes are not copied, so they must not
 *   change. To `follow` it, the last part has to be a file; it need not exist yet.
 * @param options Whether to follow the log. Default: open what is there.
 *
 * @throws `TypeError` if the log is none of these, or cannot be followed, and for an unknown option; what the file, the
 *   download or the stream throws, if it cannot be read.
 *
 * @example
 * ```ts
 * import { openLog } from 'mcp-troupe/event-log';
 *
 * const log = await openLog('troupe.log');
 * for (const change of log.changes()) console.log(change);
 * ```
 */
export function openLog(log: LogSource | readonly LogSource[], options: FollowOptions): Promise<FollowedLog>;
export function openLog(log: LogSource | readonly LogSource[], options?: OpenOptions): Promise<OpenLog>;
export async function openLog(
  log: LogSource | readonly LogSource[],
  options: OpenOptions = {},
): Promise<OpenLog> {
  requireKnown('openLog', options, OPTIONS);
  const sources = sourcesOf(log);
  const { follow = false, signal } = options;
  const followed = follow ? requireFile(sources.at(-1) as LogSource) : undefined;
  const parts: Uint8Array[] = [];
  for (const source of followed === undefined ? sources : sources.slice(0, -1))
    parts.push(await bytesOf(source));
  if (followed === undefined) return openBytes(...parts);
  const index = new FollowedLogIndex(parts, { clock: systemClock, signal });
  await index.follow(followed);
  return index;
}

/** The same for bytes in memory, without waiting. */
export function openBytes(...parts: readonly Uint8Array[]): OpenLog {
  const index = new LogIndex();
  for (const part of parts) index.addPart(part);
  return index;
}
