/** Reads a log and plays it: what `troupe replay` tells, as data. */
import { connectionName } from './address.js';
import type { Divergence } from './divergence.js';
import type { LogEntry, LogHeader } from './entry.js';
import { currentCharts } from './make-recorder.js';
import { readLog, type LogProblem } from './read-log.js';
import { Replayer } from './replayer.js';
import { Summary, type ConnectionSummary, type StateChange } from './summary.js';

export interface ReplayOptions {
  /** True where the replay ends before that entry. Default: at the end of the log. */
  readonly isBeyond?: (entry: LogEntry) => boolean;
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
  /** Time of the last of them, milliseconds since the epoch; undefined where there was none. */
  readonly at: number | undefined;
  /** What is wrong with the log; everything else is about what stands before it. */
  readonly problem: LogProblem | undefined;
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

/** Never rejects: what is wrong with the log is in the report. */
export async function replayLog(
  bytes: AsyncIterable<Uint8Array>,
  { isBeyond = () => false, changed, progress }: ReplayOptions = {},
): Promise<ReplayReport> {
  const summary = new Summary(changed);
  let header: LogHeader | undefined;
  let replayer: Replayer | undefined;
  let problem: LogProblem | undefined;
  let at: number | undefined;
  for await (const piece of readLog(bytes)) {
    if (piece.type === 'header') {
      header = piece.header;
      replayer = new Replayer(header);
    } else if (piece.type === 'problem') problem = piece.problem;
    else {
      const { entry } = piece;
      if (replayer === undefined || isBeyond(entry)) break;
      at = entry.at;
      replayer.take(entry);
      summary.end(entry, (address) => replayer?.fold.standing(address));
      if (replayer.entries % PROGRESS_EVERY === 0) progress?.(replayer.entries);
    }
  }
  replayer?.end();
  if (at !== undefined) summary.close(at);
  return {
    header,
    entries: replayer?.entries ?? 0,
    at,
    problem,
    hasOtherCharts: header !== undefined && hasOtherCharts(header),
    whyNoRerun: replayer?.whyNoRerun,
    divergences: replayer?.divergences ?? [],
    divergenceCount: replayer?.divergenceCount ?? 0,
    connections: summary.connections,
  };
}

function hasOtherCharts({ machines }: LogHeader): boolean {
  const { connection, manager } = currentCharts();
  return machines.connection !== connection || machines.manager !== manager;
}

/** Whether a divergence is about that connection, or about its manager. */
export function isAbout({ actor }: Divergence, connection: string): boolean {
  return [undefined, connection].includes(connectionName(actor));
}
