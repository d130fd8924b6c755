/** `troupe replay`: plays an event log again, and tells what happened in it and whether it happens again. */
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { isAbout, replayLog, type ReplayReport } from '../../event-log/replay-log.js';
import type { LogEntry, LogHeader } from '../../event-log/entry.js';
import type { StateChange } from '../../event-log/summary.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import type { Moment } from '../moment.js';
import { showingShare } from '../progress.js';
import { checkReadTwice, filesOfLog, sizeOf } from '../replay-files.js';
import { renderChange, renderReplay } from '../replay-report.js';
import { oneLine } from '../safe-text.js';
import type { Terminal } from '../terminal.js';
import { UsageError } from '../usage-error.js';
import { writeWholeFile } from '../write-whole-file.js';

export interface ReplayFlags extends Flags {
  /** Where to stop. Default: at the end. */
  readonly at?: Moment;
  /** The only connection to tell of. Default: all. */
  readonly connection?: string;
  /** Whether every change of a state is told. Default: not. */
  readonly timeline?: boolean;
  /** Where a picture of the timeline is written to; replaced where it is there. Default: none is. */
  readonly svg?: string;
  /** The folder that a test is written to. Default: none is. */
  readonly exportFixture?: string;
}

/**
 * `EXIT.failed` where the replay went another way, `EXIT.usage` where the log cannot be read to its end. Throws a
 * `UsageError` for a file or a connection that does not exist, for a moment before the log, and for what cannot be written.
 */
export async function replay(
  flags: ReplayFlags,
  terminal: Terminal,
  logs: readonly string[],
): Promise<ExitCode> {
  const files = await filesOfLog(logs);
  if (flags.svg !== undefined) await checkPicture(flags.svg, files);
  if (flags.exportFixture !== undefined) await checkReadTwice(files, '--export-fixture needs');
  const { changes, reached, ...played } = await play(files, flags, terminal);
  if (reached !== undefined && reached.side > 0 && played.report.entries === 0)
    throw new UsageError(`The log begins after that, with ${told(reached.entry)}.`);
  const report = onlyAbout(played.report, flags.connection);
  const { header, entries, problem, hasOtherCharts } = report;
  const shown = changes.filter(({ connection }) => [undefined, connection].includes(flags.connection));
  const file = files[report.parts - 1] ?? '';
  const unread = problem?.code === 'truncated' ? files.slice(report.parts) : [];
  if (problem !== undefined) terminal.note(`troupe: ${oneLine(`${file}: ${problem.message}`)}`);
  for (const each of unread)
    terminal.note(oneLine(`troupe: ${each}: not played, since the part before it is not whole.`));
  if (problem === undefined && flags.at === undefined && !report.isEnded)
    terminal.note(
      oneLine(
        `troupe: ${file}: the recording was not ended: its process was killed or is still at work, or the end of the log is missing.`,
      ),
    );
  if (problem === undefined && reached !== undefined && reached.side < 0)
    terminal.note(`troupe: the log ends before that, with ${told(reached.entry)}.`);
  if (header !== undefined && hasOtherCharts) {
    const { name, version } = header.package;
    terminal.note(
      oneLine(
        `troupe: recorded by ${name} ${version}, whose charts were others than these: states are compared, contexts are not.`,
      ),
    );
  }
  if (flags.json)
    terminal.print(JSON.stringify(toJson(report, flags.timeline === true ? shown : undefined), null, 2));
  else if (entries > 0) {
    if (flags.timeline === true)
      for (const change of shown) terminal.print(renderChange(change, header?.startedAt ?? 0));
    terminal.print(renderReplay(report, terminal.colors));
  }
  await writePicture(flags, report, shown);
  await writeFixture(flags, terminal, files, report);
  const isReadToItsEnd = problem?.code === 'truncated' && header !== undefined && unread.length === 0;
  if (problem !== undefined && !isReadToItsEnd) return EXIT.usage;
  return report.divergenceCount > 0 ? EXIT.failed : EXIT.fine;
}

interface Played {
  readonly report: ReplayReport;
  readonly changes: readonly StateChange[];
  /** The last entry that was looked at, and on which side of the moment to stop at it is: 0 is exactly there. */
  readonly reached: { readonly entry: LogEntry; readonly side: number } | undefined;
}

async function play(files: readonly string[], flags: ReplayFlags, terminal: Terminal): Promise<Played> {
  let reached: Played['reached'];
  const changes: StateChange[] = [];
  const isTold = flags.timeline === true || flags.svg !== undefined;
  const size = await sizeOf(files);
  let read = 0;
  const report = await showingShare(terminal, 'replaying', (onShare) =>
    replayLog(
      files.map((file) =>
        counted(file, (bytes) => {
          read += bytes;
          onShare(size === 0 ? 1 : read / size);
        }),
      ),
      {
        isBeyond: (entry, header) => {
          reached = { entry, side: flags.at === undefined ? 0 : sideOf(entry, flags.at, header) };
          return reached.side > 0;
        },
        ...(isTold && { changed: (change: StateChange) => void changes.push(change) }),
      },
    ),
  );
  return { report, changes, reached };
}

const CHUNK_BYTES = 1_024 * 1_024;

async function* counted(file: string, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    const bytes = chunk as Uint8Array;
    yield bytes;
    onBytes(bytes.length);
  }
}

/** Negative before the moment, positive after it. */
function sideOf({ seq, at }: LogEntry, moment: Moment, { startedAt }: LogHeader): number {
  return 'entry' in moment ? seq - moment.entry : at - moment.time(startedAt);
}

const told = ({ seq, at }: LogEntry): string => `entry ${seq} at ${new Date(at).toISOString()}`;

/** Throws a `UsageError` for a connection that the log does not tell of. */
function onlyAbout(report: ReplayReport, connection: string | undefined): ReplayReport {
  if (connection === undefined) return report;
  const summary = report.connections.get(connection);
  if (summary === undefined && (report.problem === undefined || report.connections.size > 0)) {
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

async function writePicture(
  { svg }: ReplayFlags,
  report: ReplayReport,
  changes: readonly StateChange[],
): Promise<void> {
  if (svg === undefined) return;
  const { drawTimeline } = await import('../replay-svg.js');
  try {
    await writeWholeFile(svg, drawTimeline(report, changes), { overwrite: true });
  } catch (error) {
    throw new UsageError(
      `'${svg}' cannot be written: ${error instanceof Error ? error.message : 'why is not known'}`,
    );
  }
}

/** What is replaced is a file, and none of the log. */
async function checkPicture(svg: string, files: readonly string[]): Promise<void> {
  const there = await stat(svg).catch(() => undefined);
  if (there === undefined) return;
  if (!there.isFile()) throw new UsageError(`'${svg}' cannot be written: it is there and is no file.`);
  const logs = await Promise.all(files.map((file) => realpath(file)));
  if (logs.includes(await realpath(svg)))
    throw new UsageError(`'${svg}' is the log: the picture needs another name.`);
}

async function writeFixture(
  { exportFixture: folder, connection }: ReplayFlags,
  terminal: Terminal,
  files: readonly string[],
  report: ReplayReport,
): Promise<void> {
  if (folder === undefined) return;
  const { exportFixture } = await import('../replay-fixture.js');
  const written = await exportFixture({ folder, files, report, connection });
  terminal.note(`troupe: written: ${written.map(oneLine).join(', ')}`);
}

function toJson(report: ReplayReport, timeline: readonly StateChange[] | undefined): object {
  const { entries, at, header, problem, isEnded, hasOtherCharts, whyNoRerun, divergences, connections } =
    report;
  return {
    entries,
    startedAt: header?.startedAt ?? null,
    at: at ?? null,
    connections: Object.fromEntries(connections),
    divergences,
    divergenceCount: report.divergenceCount,
    isEnded,
    hasOtherCharts,
    whyNoRerun: whyNoRerun ?? null,
    problem: problem ?? null,
    ...(timeline !== undefined && { timeline }),
  };
}
