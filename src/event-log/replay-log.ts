/** Reads a log and plays it: what `troupe replay` tells, as data. */
import { connectionName } from './address.js';
import { bodyIn } from './chain.js';
import type { Divergence } from './divergence.js';
import { POLICY_VERSION, type LogEntry, type LogHeader } from './entry.js';
import { currentCharts } from './make-recorder.js';
import type { LogProblem } from './log-problem.js';
import { LogParser, type LogPiece } from './read-log.js';
import { Replayer } from './replayer.js';
import { SteadyTime } from './steady-time.js';
import { Summary, type ConnectionSummary, type StateChange } from './summary.js';

export interface ReplayOptions {
  /**
   * True where the replay ends before that entry. Its time, as every time in the report, is no earlier than that of the
   * one before: where a clock was set back, time goes on. The header is that of the first part. Default: at the end of
   * the log.
   */
  readonly isBeyond?: (entry: LogEntry, header: LogHeader) => boolean;
  /** Hears of every change of a connection's state. */
  readonly changed?: (change: StateChange) => void;
  /** Hears of every thousandth entry. */
  readonly progress?: (entries: number) => void;
}

export interface ReplayReport {
  /** Undefined where the log has none that can be read. */
  readonly header: LogHeader | undefined;
  /** Entries that were played. */
  readonly entries: number;
  /** How many of the parts that were given were read, the last one perhaps not to its end. */
  readonly parts: number;
  /** Time of the last entry, milliseconds since the epoch; undefined where there was none. */
  readonly at: number | undefined;
  /** What is wrong with the log; everything else is about what stands before it. */
  readonly problem: LogProblem | undefined;
  /**
   * Whether the last entry that was played says that the recording was ended. Where it does not, and there is no
   * problem, the process that wrote it was killed or is still at it, or the end is missing.
   */
  readonly isEnded: boolean;
  /** The log was recorded with other charts than those that it was played with. */
  readonly hasOtherCharts: boolean;
  /** Why the actors were not run again, so that only the fold was; undefined where they were. */
  readonly whyNoRerun: string | undefined;
  /** The first of them, in order. */
  readonly divergences: readonly Divergence[];
  readonly divergenceCount: number;
  /** By name. */
  readonly connections: ReadonlyMap<string, ConnectionSummary>;
}

const PROGRESS_EVERY = 1_000;

/**
 * Plays a log, or the parts of one, the oldest first. Never rejects: what is wrong with the log is in the report, and
 * what stands before it was played.
 */
export async function replayLog(
  bytes: AsyncIterable<Uint8Array> | readonly AsyncIterable<Uint8Array>[],
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  const play = new Play(options);
  for (const part of Array.isArray(bytes) ? (bytes as readonly AsyncIterable<Uint8Array>[]) : [bytes]) {
    await play.part(part as AsyncIterable<Uint8Array>);
    if (play.isOver) break;
  }
  return play.report();
}

class Play {
  readonly #options: ReplayOptions;
  readonly #summary: Summary;
  #header: LogHeader | undefined;
  #replayer: Replayer | undefined;
  #problem: LogProblem | undefined;
  #parts = 0;
  #nextSeq: number | undefined;
  readonly #time = new SteadyTime();
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

  async part(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    this.#parts += 1;
    const parser = new LogParser();
    try {
      for await (const chunk of bytes) {
        this.#take(parser.push(chunk));
        if (this.isOver) return;
      }
      this.#take(parser.end());
    } catch (error) {
      this.#take([parser.unreadable(error)]);
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

  #take(pieces: readonly LogPiece[]): void {
    for (const piece of pieces) {
      if (this.isOver) return;
      if (piece.type === 'problem') this.#problem = piece.problem;
      else if (piece.type === 'header') this.#begin(piece.header);
      else this.#play(piece.entry, piece.text);
    }
  }

  #begin(header: LogHeader): void {
    const { firstSeq } = header;
    const expected = this.#nextSeq ?? firstSeq;
    this.#nextSeq = firstSeq;
    if (firstSeq !== expected) {
      const message = `Line 1 begins with entry ${firstSeq}, where entry ${expected} should be: it is not the part that follows.`;
      this.#problem = { code: 'corrupt', line: 1, message };
      return;
    }
    this.#header ??= header;
    if (this.#replayer === undefined) this.#replayer = new Replayer(header, hasOtherCharts(header));
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
    this.#summary.end(entry, at, (address) => replayer.fold.standing(address));
    if (replayer.entries % PROGRESS_EVERY === 0) this.#options.progress?.(replayer.entries);
  }
}

function hasOtherCharts({ machines, policyVersion }: LogHeader): boolean {
  const { connection, manager } = currentCharts();
  if (policyVersion !== POLICY_VERSION) return true;
  return machines.connection !== connection || machines.manager !== manager;
}

/** Whether a divergence is about that connection, or about its manager. */
export function isAbout({ actor }: Divergence, connection: string): boolean {
  return [undefined, connection].includes(connectionName(actor));
}
