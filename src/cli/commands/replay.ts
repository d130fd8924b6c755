/** `troupe replay`: plays an event log again, and tells what happened in it and whether it happens again. */
import { createReadStream } from 'node:fs';
import { isAbout, replayLog, type ReplayReport } from '../../event-log/replay-log.js';
import type { LogEntry } from '../../event-log/entry.js';
import type { StateChange } from '../../event-log/summary.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags, Moment } from '../flags.js';
import { renderChange, renderReplay } from '../replay-report.js';
import { oneLine } from '../safe-text.js';
import type { Terminal } from '../terminal.js';
import { UsageError } from '../usage-error.js';

export interface ReplayFlags extends Flags {
  /** Where to stop. Default: at the end. */
  readonly at?: Moment;
  /** The only connection to tell of. Default: all. */
  readonly connection?: string;
  /** Whether every change of a state is told. Default: not. */
  readonly timeline?: boolean;
}

/** `EXIT.failed` where the replay went another way, `EXIT.usage` where the log cannot be read to its end. */
export async function replay(flags: ReplayFlags, terminal: Terminal, file: string): Promise<ExitCode> {
  const changes: StateChange[] = [];
  const report = onlyAbout(
    await replayLog(createReadStream(file), {
      isBeyond: (entry) => isBeyond(entry, flags.at),
      ...(flags.timeline === true && { changed: (change: StateChange) => void changes.push(change) }),
    }),
    flags.connection,
  );
  const { header, entries, problem, hasOtherCharts } = report;
  const told = changes.filter(({ connection }) => [undefined, connection].includes(flags.connection));
  if (problem !== undefined) terminal.note(`troupe: ${oneLine(`${file}: ${problem.message}`)}`);
  if (header !== undefined && hasOtherCharts) {
    const { name, version } = header.package;
    terminal.note(oneLine(`troupe: recorded by ${name} ${version}, whose charts were others than these.`));
  }
  if (flags.json)
    terminal.print(JSON.stringify(toJson(report, flags.timeline === true ? told : undefined), null, 2));
  else if (entries > 0) {
    for (const change of told) terminal.print(renderChange(change, header?.startedAt ?? 0));
    terminal.print(renderReplay(report, terminal.colors));
  }
  if (problem !== undefined && problem.code !== 'truncated') return EXIT.usage;
  return report.divergenceCount > 0 ? EXIT.failed : EXIT.fine;
}

function isBeyond({ seq, at }: LogEntry, moment: Moment | undefined): boolean {
  if (moment === undefined) return false;
  return 'entry' in moment ? seq > moment.entry : at > moment.time;
}

/** Throws a `UsageError` for a connection that the log does not tell of. */
function onlyAbout(report: ReplayReport, connection: string | undefined): ReplayReport {
  if (connection === undefined) return report;
  const summary = report.connections.get(connection);
  if (summary === undefined && report.problem === undefined) {
    const names = [...report.connections.keys()].map((name) => `'${name}'`).join(', ');
    throw new UsageError(`The log tells of no connection '${connection}'; it tells of ${names || 'none'}.`);
  }
  const divergences = report.divergences.filter((divergence) => isAbout(divergence, connection));
  return {
    ...report,
    connections: new Map(summary === undefined ? [] : [[connection, summary]]),
    divergences,
    divergenceCount: divergences.length,
  };
}

function toJson(report: ReplayReport, timeline: readonly StateChange[] | undefined): object {
  const { entries, at, header, problem, hasOtherCharts, whyNoRerun, divergences, connections } = report;
  return {
    entries,
    startedAt: header?.startedAt ?? null,
    at: at ?? null,
    connections: Object.fromEntries(connections),
    divergences,
    divergenceCount: report.divergenceCount,
    hasOtherCharts,
    whyNoRerun: whyNoRerun ?? null,
    problem: problem ?? null,
    ...(timeline !== undefined && { timeline }),
  };
}
