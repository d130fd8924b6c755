/** `troupe replay`: replays an event log, reports what happened in it, and checks that it happens again. */
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { machinesOf, type ReplayAgainst } from '../../event-log/replay/replay-machines.js';
import { messageOf } from '../../text/error-message.js';
import { isAbout, replayLog, type ReplayReport } from '../../event-log/replay/replay-log.js';
import type { LogEntry, LogHeader } from '../../event-log/format/entry.js';
import type { StateChange, ConnectionSummary } from '../../event-log/replay/summary.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import type { Moment } from '../arguments/moment.js';
import { showingShare } from '../output/progress.js';
import { checkReadTwice, filesOfLog, sizeOf } from '../replay-files.js';
import { oneLine, type Terminal, type Colors, nameOf } from '../output/terminal.js';
import { writeWholeFile } from '../output/write-whole-file.js';
import type { Divergence } from '../../event-log/replay/divergence.js';
import { countOf, preciseDuration } from '../output/duration.js';
import { summarizeWithCause } from '../output/failure-report.js';
import type { ReplayJson } from '../output/json-output.js';

export interface ReplayFlags extends Flags {
  /** Where to stop. Default: at the end. */
  readonly at?: Moment;
  /** The only server to report on. Default: all. */
  readonly server?: string;
  /** Module with the machines or the policy to replay with. Default: the charts of this package. */
  readonly against?: string;
  /** Whether to print every change of a state. Default: false. */
  readonly timeline?: boolean;
  /** File for a picture of the timeline; an existing one is replaced. Default: no picture. */
  readonly svg?: string;
  /** Folder for a generated test. Default: no test. */
  readonly exportFixture?: string;
}

/**
 * `EXIT.failed` if the replay diverged, `EXIT.usage` if the log cannot be read to its end. Throws a `UsageError` for a
 * file or a server that does not exist, for a moment before the log, and for output that cannot be written.
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
    throw new UsageError(`The log begins after that, with ${entryInWords(reached.entry)}.`);
  const report = onlyAbout(played.report, flags.server);
  const { header, entries, problem, hasOtherCharts } = report;
  const shown = changes.filter(({ server }) => [undefined, server].includes(flags.server));
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
  if (header !== undefined && hasOtherCharts) {
    const { name, version } = header.package;
    terminal.note(
      oneLine(
        `troupe: recorded by ${name} ${version}, whose charts differ from these: states are compared, contexts are not.`,
      ),
    );
  }
  if (flags.json) terminal.printJson('replay', toJson(report, flags.timeline === true ? shown : undefined));
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
  /** The last entry that was read, and on which side of the given moment it is; 0 is exactly there. */
  readonly reached: { readonly entry: LogEntry; readonly side: number } | undefined;
}

async function play(files: readonly string[], flags: ReplayFlags, terminal: Terminal): Promise<Played> {
  let reached: Played['reached'];
  const changes: StateChange[] = [];
  const wantsChanges = flags.timeline === true || flags.svg !== undefined;
  const size = await sizeOf(files);
  const against = flags.against === undefined ? undefined : await loadAgainst(flags.against);
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
        ...(against !== undefined && { against }),
        ...(wantsChanges && { changed: (change: StateChange) => void changes.push(change) }),
      },
    ),
  );
  return { report, changes, reached };
}

/** Runs the module. Throws a `UsageError` if it cannot be loaded, or holds no machine and no policy. */
async function loadAgainst(file: string): Promise<ReplayAgainst> {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as ReplayAgainst;
    machinesOf(module);
    return module;
  } catch (error) {
    throw new UsageError(`--against: '${file}' cannot be used: ${messageOf(error)}`);
  }
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

const entryInWords = ({ seq, at }: LogEntry): string => `entry ${seq} at ${new Date(at).toISOString()}`;

/** Throws a `UsageError` for a server that is not in the log. */
function onlyAbout(report: ReplayReport, server: string | undefined): ReplayReport {
  if (server === undefined) return report;
  const summary = report.connections.get(server);
  if (summary === undefined && (report.problem === undefined || report.connections.size > 0)) {
    const names = [...report.connections.keys()].map((name) => `'${name}'`).join(', ');
    throw new UsageError(`The log has no server '${server}'; it has ${names || 'none'}.`);
  }
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
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`'${svg}' cannot be written: ${code ?? message}`);
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
  files: readonly string[],
  report: ReplayReport,
): Promise<void> {
  if (folder === undefined || report.header === undefined) return;
  const { exportFixture } = await import('../replay-fixture.js');
  const written = await exportFixture({ folder, files, report, server });
  terminal.note(`troupe: written: ${written.map(oneLine).join(', ')}`);
}

function toJson(report: ReplayReport, timeline: readonly StateChange[] | undefined): ReplayJson {
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

// The result of `troupe replay` for a person.

const MAX_VALUE = 80;

export function renderReplay(report: ReplayReport, colors: Colors): string {
  return [
    ...[...report.connections].flatMap(([name, summary]) => connectionLines(name, summary, colors)),
    '',
    ...report.divergences.flatMap((divergence) => divergenceLines(divergence, colors)),
    verdictOf(report, colors),
  ].join('\n');
}

/** One line of the timeline. */
export function renderChange(change: StateChange, startedAt: number): string {
  const { entry, at, server, from, to, failure } = change;
  const why = failure === undefined ? '' : `: ${summarizeWithCause(failure)}`;
  const time = `+${((at - startedAt) / 1_000).toFixed(3)}s`.padStart(12);
  return `${time}  #${String(entry).padEnd(6)} ${nameOf(server)}  ${from === null ? '' : `${oneLine(from)} → `}${oneLine(to)}${why}`;
}

function connectionLines(name: string, summary: ConnectionSummary, { bold, dim }: Colors): string[] {
  const { state, generation, attempts, states, failures, failureCodes, rejected } = summary;
  const spent = Object.entries(states).map(([each, ms]) => `${oneLine(each)} ${preciseDuration(ms)}`);
  const later = Object.values(failureCodes).reduce((sum, count) => sum + count, 0) - failures.length;
  const codes = Object.entries(failureCodes).map(([code, count]) => `${oneLine(code)} × ${count}`);
  return [
    `${bold(nameOf(name))}  ${oneLine(state)}, ${countOf(attempts, 'attempt')}, session ${generation}`,
    dim(`    ${spent.join(', ')}`),
    ...(codes.length === 0 ? [] : [`    failures: ${codes.join(', ')}`]),
    ...eachOnce(failures.map(summarizeWithCause)).map((line) => `      ${line}`),
    ...(later > 0 ? [`      and ${countOf(later, 'later failure')}`] : []),
    ...rejected.map(
      ({ entry, event, state: then }) =>
        `    rejected: ${oneLine(event)} while ${oneLine(then)} (entry ${entry})`,
    ),
  ];
}

/** Each line once, where it comes first, with its number. */
function eachOnce(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)].map((line) => {
    const count = lines.filter((each) => each === line).length;
    return count === 1 ? line : `${line} (× ${count})`;
  });
}

function divergenceLines({ message, context, method }: Divergence, { red }: Colors): string[] {
  const who = method === 'both' ? 'both replays' : method === 'rerun' ? 'the actors' : 'the fold';
  return [
    `${red('✗')} ${oneLine(message)} (${who})`,
    ...context.map(
      ({ field, expected, found }) =>
        `    ${oneLine(field)}: ${valueOf(found)} instead of ${valueOf(expected)}`,
    ),
  ];
}

function valueOf(value: unknown): string {
  const text = oneLine(JSON.stringify(value) ?? 'nothing');
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

function verdictOf({ entries, divergenceCount, whyNoRerun }: ReplayReport, { green, red }: Colors): string {
  const how = whyNoRerun === undefined ? 'by the actors and by the fold' : `by the fold alone: ${whyNoRerun}`;
  const what = `${entries} ${entries === 1 ? 'entry' : 'entries'} replayed ${how}`;
  return divergenceCount === 0
    ? green(`${what}; no divergence`)
    : red(`${what}; ${countOf(divergenceCount, 'divergence')}`);
}
