/** Reads and replays a log: the output of `troupe replay`, as data. */
import { connectionName, MANAGER } from '../../actor-system/actor-path.js';
import { bodyIn } from '../format/chain.js';
import type { Divergence } from './divergence.js';
import { POLICY_VERSION, type LogEntry, type LogHeader } from '../format/entry.js';
import { currentCharts } from '../record/make-recorder.js';
import { chunksOf, sourcesOf, type LogSource } from '../format/log-source.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';
import { type LogProblem, LogParser, type LogPiece } from '../format/read-log.js';
import { isSameRun } from '../format/runs.js';
import { MonotonicTime } from '../format/monotonic-time.js';
import { machinesOf, type ReplayAgainst } from './replay-machines.js';
import { Replayer } from './replayer.js';
import { Summary, type ConnectionSummary, type StateChange } from './summary.js';

/** Options of `replayLog`. */
export interface ReplayOptions {
  /**
   * Returns true for the first entry that is not to be replayed. The header is the one of the first part.
   * Default: the replay runs to the end of the log. Times never decrease, even if the clock was set back.
   */
  readonly isBeyond?: (entry: LogEntry, header: LogHeader) => boolean;
  /**
   * Changed machines or policies, to try them on what happened. States, events and times are compared. A timer diverges if
   * it fires more than a second and half its delay earlier than in the log, or more than 50 ms later. Default: the charts of
   * this package. If the log was recorded with other charts, only states are compared.
   *
   * @example
   * ```ts
   * import { replayLog } from 'mcp-troupe/event-log';
   * import { connectionMachine } from 'mcp-troupe/machines';
   *
   * const patient = connectionMachine.provide({ delays: { backoffDelay: ({ context }) => 2 * context.delayMs } });
   * const { divergences } = await replayLog('troupe.log', { against: { connectionMachine: patient } });
   * ```
   */
  readonly against?: ReplayAgainst;
  /** Called for every change of a connection's state. */
  readonly changed?: (change: StateChange) => void;
  /** Called after every thousandth entry, with the number of entries so far. */
  readonly progress?: (entries: number) => void;
}

/** The result of a replay. */
export interface ReplayReport {
  /** Header of the first part; undefined if the log has none that can be read. */
  readonly header: LogHeader | undefined;
  /** Number of entries that were replayed. */
  readonly entries: number;
  /** Number of parts that were read. The last one may not have been read to its end. */
  readonly parts: number;
  /** Time of the last entry, milliseconds since the epoch; undefined if there was no entry. */
  readonly at: number | undefined;
  /** Why the log cannot be read any further. The rest of the report covers the entries before that. */
  readonly problem: LogProblem | undefined;
  /**
   * True if the last entry says that the recording ended. If it is false and there is no problem, the writer
   * was killed or is still running, or the end of the log is missing.
   */
  readonly isEnded: boolean;
  /** True if the log was recorded with other charts than those of this package. */
  readonly hasOtherCharts: boolean;
  /** Why the actors were not run again, so that only the fold was checked; undefined if they were. */
  readonly whyNoRerun: string | undefined;
  /** The first differences between the log and the replay, in order. */
  readonly divergences: readonly Divergence[];
  /** Number of all differences, including those not in `divergences`. */
  readonly divergenceCount: number;
  /** A summary of each connection, by name. */
  readonly connections: ReadonlyMap<string, ConnectionSummary>;
}

const PROGRESS_EVERY = 1_000;

/**
 * Replays a log, or the parts of one, the oldest first. Never rejects: a problem with the log is in the report, and
 * everything before it was replayed.
 *
 * @param log Path, URL, text, bytes or stream of the log, or a list of its parts.
 * @param options At which entry to stop, what to replay it with, and what to call meanwhile. Default: replay to the end with
 *   the charts of this package, and call nothing.
 *
 * @throws `TypeError` if the log is none of these, for an unknown option, or if `against` holds no machine and no policy.
 *
 * @example
 * ```ts
 * import { replayLog } from 'mcp-troupe/event-log';
 *
 * const { divergences } = await replayLog('troupe.log');
 * ```
 */
export async function replayLog(
  log: LogSource | readonly LogSource[],
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  requireKnown('replayLog', options, OPTIONS);
  if (options.against !== undefined) machinesOf(options.against);
  const replay = new LogReplay(options);
  for (const part of sourcesOf(log)) {
    await replay.part(part);
    if (replay.isOver) break;
  }
  return replay.report();
}

const OPTIONS: OptionNames<ReplayOptions> = {
  against: true,
  isBeyond: true,
  changed: true,
  progress: true,
};

/** A replay that is fed piece by piece. */
export class LogReplay {
  readonly #options: ReplayOptions;
  readonly #summary: Summary;
  #header: LogHeader | undefined;
  #replayer: Replayer | undefined;
  #problem: LogProblem | undefined;
  #parts = 0;
  #nextSeq: number | undefined;
  readonly #time = new MonotonicTime();
  #at: number | undefined;
  #isBeyond = false;
  #isEnded = false;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#summary = new Summary(options.changed);
  }

  get isOver(): boolean {
    return this.#problem !== undefined || this.#isBeyond;
  }

  async part(source: LogSource): Promise<void> {
    this.#parts += 1;
    const parser = new LogParser();
    try {
      for await (const chunk of chunksOf(source)) {
        this.take(parser.push(chunk));
        if (this.isOver) return;
      }
      this.take(parser.end());
    } catch (error) {
      this.take([parser.unreadable(error)]);
    }
  }

  /** Replays the next pieces of one recording. */
  take(pieces: readonly LogPiece[]): void {
    for (const piece of pieces) {
      if (this.isOver) return;
      if (piece.type === 'problem') this.#problem = piece.problem;
      else if (piece.type === 'header') this.#begin(piece.header, piece.line);
      else if (piece.type === 'entry') this.#play(piece.entry, piece.text);
    }
  }

  report(): ReplayReport {
    const replayer = this.#replayer;
    replayer?.end();
    if (this.#at !== undefined) this.#summary.close(this.#at);
    return {
      header: this.#header,
      entries: replayer?.entries ?? 0,
      parts: this.#parts,
      at: this.#at,
      problem: this.#problem,
      isEnded: this.#isEnded,
      hasOtherCharts: this.#header !== undefined && hasOtherCharts(this.#header),
      whyNoRerun: replayer?.whyNoRerun,
      divergences: replayer?.divergences ?? [],
      divergenceCount: replayer?.divergenceCount ?? 0,
      connections: this.#summary.connections,
    };
  }

  #begin(header: LogHeader, line: number): void {
    const { firstSeq } = header;
    if (this.#header !== undefined && !isSameRun(this.#header, header)) {
      const message = `Line ${line} begins another recording: replay each by itself.`;
      this.#problem = { code: 'another-run', line, message };
      return;
    }
    const expected = this.#nextSeq ?? firstSeq;
    this.#nextSeq = firstSeq;
    if (firstSeq !== expected) {
      const message = `Line ${line} begins with entry ${firstSeq} instead of entry ${expected}: it is not the part that follows.`;
      this.#problem = { code: 'corrupt', line, message };
      return;
    }
    this.#header ??= header;
    const { against } = this.#options;
    if (this.#replayer === undefined)
      this.#replayer = new Replayer(header, against !== undefined || hasOtherCharts(header), against);
    else this.#replayer.nextPart(header);
  }

  #play(entry: LogEntry, text: string): void {
    const replayer = this.#replayer;
    const header = this.#header;
    if (replayer === undefined || header === undefined) return;
    const at = this.#time.of(entry.at);
    const timed = at === entry.at ? entry : { ...entry, at };
    this.#isBeyond = this.#options.isBeyond?.(timed, header) === true;
    if (this.#isBeyond) return;
    this.#at = at;
    this.#nextSeq = entry.seq + 1;
    this.#isEnded = entry.kind === 'note' && entry.note.type === 'end';
    replayer.take(entry, bodyIn(text, entry));
    this.#summary.end(entry, at, (address) => replayer.fold.stateOf(address));
    if (replayer.entries % PROGRESS_EVERY === 0) this.#options.progress?.(replayer.entries);
  }
}

function hasOtherCharts({ machines, policyVersion }: LogHeader): boolean {
  const current: Readonly<Record<string, string>> = currentCharts();
  if (policyVersion !== POLICY_VERSION) return true;
  return Object.entries(machines).some(([name, hash]) => current[name] !== hash);
}

/** Whether a divergence is about that connection, or about its manager. */
export function isAbout({ actor }: Divergence, connection: string): boolean {
  return actor === MANAGER || connectionName(actor) === connection;
}
