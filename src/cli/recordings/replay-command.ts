/**
 * `troupe replay`: replays an event log, reports what happened in it, and checks that it happens again. Longer than 300 lines
 * because the outputs of the command share what was read.
 */
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { machinesOf, type ReplayAgainst } from '../../event-log/replay/replay-machines.js';
import { messageOf } from '../../text/error-message.js';
import { isAbout, replayLog, type ReplayReport } from '../../event-log/replay/replay-log.js';
import type { LogEntry, LogHeader } from '../../event-log/format/entry.js';
import { byTime } from '../../event-log/replay/merge-logs.js';
import type { StateChange } from '../../event-log/replay/summary.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import type { Moment } from '../arguments/moment.js';
import { showingShare } from '../output/progress.js';
import { checkReadTwice, runsOfLogs, type PartFile, type RunFiles } from '../replay-files.js';
import { oneLine, type Terminal } from '../output/terminal.js';
import { renderChange, renderReplay } from '../output/replay-text.js';
import { whyNotWritten, writeWholeFile } from '../output/write-whole-file.js';
import type { ReplayJson } from '../output/json-output.js';

export interface ReplayFlags extends Flags {
  /** Where to stop. Default: at the end. */
  readonly at?: Moment;
  /** The only server to report on. Default: all. */
  readonly server?: string | undefined;
  /** Module with the machines or the policy to replay with. Default: the charts of this package. */
  readonly against?: string;
  /** Whether to go on as the log grows, until Ctrl-C. Default: false. */
  readonly follow?: boolean;
  /** Whether to print every change of a state. Default: false. */
  readonly timeline?: boolean;
  /** File for a picture of the timeline; an existing one is replaced. Default: no picture. */
  readonly svg?: string;
  /** Folder for a generated test. Default: no test. */
  readonly exportFixture?: string;
}

/**
 * `EXIT.failed` if a replay diverged, `EXIT.usage` if a log cannot be read to its end. Throws a `UsageError` for a
 * file or a server that does not exist, for a moment before the log, and for output that cannot be written.
 */
export async function replay(
  flags: ReplayFlags,
  terminal: Terminal,
  logs: readonly string[],
): Promise<ExitCode> {
  if (flags.follow === true) {
    const { followReplay } = await import('./replay-follow.js');
    return followReplay(flags, terminal, logs);
  }
  const runs = await runsOfLogs(logs);
  const files = runs.flatMap(({ parts }) => parts.map(({ file }) => file));
  if (flags.svg !== undefined) await checkPicture(flags.svg, files);
  if (flags.exportFixture !== undefined) await checkReadTwice(files, '--export-fixture needs');
  const [only] = runs;
  if (only !== undefined && runs.length === 1) return replayRun(only, flags, terminal);
  for (const name of ['svg', 'exportFixture'] as const)
    if (flags[name] !== undefined) throw oneOnly(name === 'svg' ? '--svg' : '--export-fixture', runs);
  if (flags.at !== undefined && 'entry' in flags.at) throw oneOnly('--at with the number of an entry', runs);
  return replayRuns(runs, flags, terminal);
}

function oneOnly(flag: string, runs: readonly RunFiles[]): UsageError {
  const labels = runs.map(({ label, parts }) => label ?? parts[0]?.file ?? '');
  return new UsageError(
    `${flag} needs one recording; these are ${runs.length}: ${labels.map(oneLine).join('; ')}.`,
  );
}

/** Each by itself, and all changes of states on one timeline. */
async function replayRuns(
  runs: readonly RunFiles[],
  flags: ReplayFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const played: (Replayed & { readonly label: string })[] = [];
  for (const run of runs) {
    const label = run.label ?? run.parts[0]?.file ?? '';
    played.push({ ...(await replayed(run, { ...flags, server: undefined }, terminal)), label });
  }
  const { server } = flags;
  if (server !== undefined && !played.some(({ report }) => report.connections.has(server)))
    throw new UsageError(`No log has a server '${server}'.`);
  const own = played.map((each) => ({ ...each, report: reportOn(each.report, server) }));
  const begin = Math.min(...own.map(({ report }) => report.header?.startedAt ?? Infinity));
  const timeline = [
    ...byTime(
      own.map(({ changes, label }) =>
        changes
          .filter((change) => [undefined, change.server].includes(server))
          .map((change) => ({ ...change, run: label })),
      ),
    ),
  ];
  if (flags.json) {
    const results = own.map(({ report, label }) => toJson(report, label));
    terminal.printJson('replay', { runs: results, ...(flags.timeline === true && { timeline }) });
  } else {
    if (flags.timeline === true)
      for (const change of timeline) terminal.print(renderChange(change, begin, change.run));
    for (const { report, label } of own) {
      terminal.print(terminal.colors.bold(`${oneLine(label)}:`));
      terminal.print(renderReplay(report, terminal.colors));
    }
  }
  const codes = own.map(exitCodeOf);
  return codes.includes(EXIT.usage) ? EXIT.usage : codes.includes(EXIT.failed) ? EXIT.failed : EXIT.fine;
}

async function replayRun(run: RunFiles, flags: ReplayFlags, terminal: Terminal): Promise<ExitCode> {
  const { report: whole, changes, isReadToItsEnd } = await replayed(run, flags, terminal);
  const report = onlyAbout(whole, flags.server);
  const { header, entries } = report;
  const shown = changes.filter(({ server }) => [undefined, server].includes(flags.server));
  if (flags.json)
    terminal.printJson('replay', {
      ...toJson(report, run.label),
      ...(flags.timeline === true && { timeline: shown }),
    });
  else if (entries > 0) {
    if (flags.timeline === true)
      for (const change of shown) terminal.print(renderChange(change, header?.startedAt ?? 0));
    terminal.print(renderReplay(report, terminal.colors));
  }
  await writePicture(flags, report, shown);
  await writeFixture(flags, terminal, run, report);
  return exitCodeOf({ report, isReadToItsEnd });
}

interface Replayed {
  readonly report: ReplayReport;
  readonly changes: readonly StateChange[];
  /** Even if its last line was cut off. */
  readonly isReadToItsEnd: boolean;
}

function exitCodeOf({ report, isReadToItsEnd }: Pick<Replayed, 'report' | 'isReadToItsEnd'>): ExitCode {
  if (!isReadToItsEnd) return EXIT.usage;
  return report.divergenceCount > 0 ? EXIT.failed : EXIT.fine;
}

/** Replays one recording, and notes what is odd about it. */
async function replayed(run: RunFiles, flags: ReplayFlags, terminal: Terminal): Promise<Replayed> {
  const { changes, reached, report } = await play(run.parts, flags, terminal);
  if (reached !== undefined && reached.side > 0 && report.entries === 0)
    throw new UsageError(`The log begins after that, with ${entryInWords(reached.entry)}.`);
  const { header, problem, hasOtherCharts } = onlyAbout(report, flags.server);
  const files = run.parts.map(({ file }) => file);
  const file = files[report.parts - 1] ?? '';
  const unread = problem?.code === 'truncated' ? files.slice(report.parts) : [];
  if (problem !== undefined) terminal.note(`troupe: ${oneLine(`${file}: ${problem.message}`)}`);
  for (const each of unread)
    terminal.note(oneLine(`troupe: ${each}: not replayed, because the part before it is incomplete.`));
  if (problem === undefined && flags.at === undefined && !report.isEnded)
    terminal.note(
      oneLine(
        `troupe: ${file}: the recording has no end: its process was killed or is still running, or the end of the log is missing.`,
      ),
    );
  if (problem === undefined && reached !== undefined && reached.side < 0)
    terminal.note(`troupe: the log ends before that, with ${entryInWords(reached.entry)}.`);
  if (header !== undefined && hasOtherCharts) noteOtherCharts(header, terminal);
  const isOnlyCut = problem?.code === 'truncated' && header !== undefined && unread.length === 0;
  return { report, changes, isReadToItsEnd: problem === undefined || isOnlyCut };
}

export function noteOtherCharts({ package: { name, version } }: LogHeader, terminal: Terminal): void {
  terminal.note(
    oneLine(
      `troupe: recorded by ${name} ${version}, whose charts differ from these: states are compared, contexts are not.`,
    ),
  );
}

interface Played {
  readonly report: ReplayReport;
  readonly changes: readonly StateChange[];
  /** The last entry that was read, and on which side of the given moment it is; 0 is exactly there. */
  readonly reached: { readonly entry: LogEntry; readonly side: number } | undefined;
}

async function play(parts: readonly PartFile[], flags: ReplayFlags, terminal: Terminal): Promise<Played> {
  let reached: Played['reached'];
  const changes: StateChange[] = [];
  const wantsChanges = flags.timeline === true || flags.svg !== undefined;
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  const against = flags.against === undefined ? undefined : await loadAgainst(flags.against);
  let read = 0;
  const report = await showingShare(terminal, 'replaying', (onShare) =>
    replayLog(
      parts.map((part) =>
        part.source((bytes) => {
          read += bytes;
          onShare(size === 0 ? 1 : read / size);
        }),
      ),
      {
        isBeyond: (entry, header) => {
          reached = { entry, side: flags.at === undefined ? 0 : sideOf(entry, flags.at, header) };
          return reached.side > 0;
        },
        ...(against !== undefined && { against }),
        ...(wantsChanges && { changed: (change: StateChange) => void changes.push(change) }),
      },
    ),
  );
  return { report, changes, reached };
}

/** Runs the module. Throws a `UsageError` if it cannot be loaded, or holds no machine and no policy. */
export async function loadAgainst(file: string): Promise<ReplayAgainst> {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as ReplayAgainst;
    machinesOf(module);
    return module;
  } catch (error) {
    throw new UsageError(`--against: '${file}' cannot be used: ${messageOf(error)}`);
  }
}

/** Negative before the moment, positive after it. */
function sideOf({ seq, at }: LogEntry, moment: Moment, { startedAt }: LogHeader): number {
  return 'entry' in moment ? seq - moment.entry : at - moment.time(startedAt);
}

const entryInWords = ({ seq, at }: LogEntry): string => `entry ${seq} at ${new Date(at).toISOString()}`;

/** Throws a `UsageError` for a server that is not in the log. */
function onlyAbout(report: ReplayReport, server: string | undefined): ReplayReport {
  if (server === undefined) return report;
  const summary = report.connections.get(server);
  if (summary === undefined && (report.problem === undefined || report.connections.size > 0)) {
    const names = [...report.connections.keys()].map((name) => `'${name}'`).join(', ');
    throw new UsageError(`The log has no server '${server}'; it has ${names || 'none'}.`);
  }
  return reportOn(report, server);
}

/** The report without what is about other servers. */
export function reportOn(report: ReplayReport, server: string | undefined): ReplayReport {
  if (server === undefined) return report;
  const summary = report.connections.get(server);
  const divergences = report.divergences.filter((divergence) => isAbout(divergence, server));
  return {
    ...report,
    connections: new Map(summary === undefined ? [] : [[server, summary]]),
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
  const { drawTimeline } = await import('../output/replay-svg.js');
  try {
    await writeWholeFile(svg, drawTimeline(report, changes), { overwrite: true });
  } catch (error) {
    throw new UsageError(`'${svg}' ${whyNotWritten(error)}`, { cause: error });
  }
}

/** Only a file that is not part of the log may be replaced. */
async function checkPicture(svg: string, files: readonly string[]): Promise<void> {
  const there = await stat(svg).catch(() => undefined);
  if (there === undefined) return;
  if (!there.isFile()) throw new UsageError(`'${svg}' cannot be written: it exists and is not a file.`);
  const logs = await Promise.all(files.map((file) => realpath(file)));
  if (logs.includes(await realpath(svg)))
    throw new UsageError(`'${svg}' is the log: give the picture another name.`);
}

async function writeFixture(
  { exportFixture: folder, server }: ReplayFlags,
  terminal: Terminal,
  { parts }: RunFiles,
  report: ReplayReport,
): Promise<void> {
  if (folder === undefined || report.header === undefined) return;
  const { exportFixture } = await import('../replay-fixture.js');
  const sources = parts.map(({ source }) => source());
  const written = await exportFixture({ folder, sources, report, server });
  terminal.note(`troupe: written: ${written.map(oneLine).join(', ')}`);
}

export function toJson(report: ReplayReport, label: string | undefined): ReplayJson {
  const { entries, at, header, problem, isEnded, hasOtherCharts, whyNoRerun, divergences, connections } =
    report;
  return {
    label: label ?? null,
    run: header?.run ?? null,
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
  };
}
