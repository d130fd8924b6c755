/** `troupe report`: packs recordings, versions, configuration and findings into one file for whoever looks into an incident. */
import { resolve } from 'node:path';
import { packReport, type CreatedReport } from '../../event-log/report/create-report.js';
import type { JsonObject } from '../../json/json-object.js';
import { createMask } from '../../secrets/secrets.js';
import { messageOf } from '../../text/error-message.js';
import type { Flags } from '../arguments/flags.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import { countOf } from '../output/duration.js';
import { nameOf, oneLine, type Terminal } from '../output/terminal.js';
import { FORCE_REPLACES, whyNotWritten, writeWholeFile } from '../output/write-whole-file.js';
import { checkReadTwice, filesOfLog } from '../replay-files.js';
import { toConfigJson } from './config-command.js';
import { examineSurroundings } from './doctor-command.js';

export interface ReportFlags extends Flags {
  /** The file to write. Default: a name with the time, in the working directory. */
  readonly output?: string;
  /** Replace an existing file. */
  readonly force?: boolean;
  /** Keep the names of computers and the path of the home folder. */
  readonly hostNames?: boolean;
  /** Pack the configuration, and what `doctor` finds. Default true. */
  readonly configuration?: boolean;
  /** Total size of the recordings, megabytes. */
  readonly max?: number;
}

const MEGABYTE = 1_048_576;

/** Throws a `UsageError` for a log that cannot be read, and for a file that cannot be written. */
export async function report(
  flags: ReportFlags,
  terminal: Terminal,
  logs: readonly string[],
): Promise<ExitCode> {
  const files = [...new Set((await Promise.all(logs.map((log) => filesOfLog([log])))).flat())];
  await checkReadTwice(files, 'a report needs');
  const output =
    flags.output ?? `troupe-report-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.jsonl.gz`;
  if (files.map((file) => resolve(file)).includes(resolve(output)))
    throw new UsageError(`'${output}' is the log: give the report another name.`);
  const created = await pack(flags, logs);
  await write(output, created.bytes, flags);
  if (flags.json) terminal.printJson('report', toJson(output, created));
  else terminal.print(render(output, created, terminal));
  return EXIT.fine;
}

async function pack(flags: ReportFlags, logs: readonly string[]): Promise<CreatedReport> {
  const { hostNames = false, max = 64 } = flags;
  const surroundings =
    flags.configuration === false ? { configuration: null, findings: null } : await surroundingsOf(flags);
  try {
    return await packReport({
      ...surroundings,
      logs,
      about: null,
      versions: {},
      hostNames,
      maxBytes: max * MEGABYTE,
      mask: createMask([]),
    });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

/** Both are masked already. A configuration that cannot be read is a finding. */
async function surroundingsOf(
  flags: Flags,
): Promise<{ readonly configuration: JsonObject; readonly findings: readonly JsonObject[] }> {
  const read = await readConfiguration(flags, { mayBeEmpty: true, mayBeUnreadable: true });
  const findings = await examineSurroundings(flags, read);
  return {
    configuration: { ...toConfigJson(read.discovery) },
    findings: findings.map((finding) => ({ ...finding })),
  };
}

async function write(
  output: string,
  bytes: Uint8Array,
  { force = false }: Pick<ReportFlags, 'force'>,
): Promise<void> {
  try {
    await writeWholeFile(output, bytes, { overwrite: force });
  } catch (error) {
    throw new UsageError(`'${output}' ${whyNotWritten(error, FORCE_REPLACES)}`, { cause: error });
  }
}

function toJson(file: string, { bytes, report, leftOut }: CreatedReport) {
  return { file: resolve(file), bytes: bytes.length, report, leftOut };
}

function render(output: string, { bytes, report, leftOut }: CreatedReport, { colors }: Terminal): string {
  const { versions, configuration, findings, logs } = report;
  const faults = findings?.filter(({ level }) => level === 'error' || level === 'warning').length ?? 0;
  const servers = Object.keys(configuration?.['servers'] ?? {});
  return [
    `${colors.bold(oneLine(output))}  ${kilobytes(bytes.length)}; only you can read it`,
    `    versions: ${oneLine(`troupe ${versions.troupe}, ${versions.runtime}, ${versions.platform}`)}`,
    ...logs.map(
      ({ name, entries, connections, from, to }) =>
        `    recording: ${oneLine(name)}, ${entries === 1 ? '1 entry' : `${entries} entries`} from ${shortTime(from)} to ${shortTime(to)}, of ${connections.map(nameOf).join(', ') || 'no server'}`,
    ),
    ...(logs.length === 0 ? ["    no recording: make one with 'troupe up --record FILE', and name it"] : []),
    ...(configuration === null
      ? []
      : [
          `    configuration: ${servers.map(nameOf).join(', ') || 'no server'}; secrets are masked`,
          `    findings of 'troupe doctor' about machine and files: ${faults === 0 ? 'nothing is wrong' : countOf(faults, 'fault')}`,
        ]),
    ...leftOut.map(({ name, why }) => `    left out: ${oneLine(`${name}: ${why}`)}`),
    '',
    'Look at it before you send it:',
    `    troupe inspect ${oneLine(output)}`,
    `    gzip -dc ${oneLine(output)} | less`,
    ...thingsToCheck(report).map((line) => `  - ${line}`),
  ].join('\n');
}

function thingsToCheck({ logs, configuration }: CreatedReport['report']): readonly string[] {
  return [
    ...(logs.some(({ hasBodies }) => hasBodies)
      ? ['arguments and results of calls: it was recorded with --record-bodies']
      : []),
    ...(logs.length > 0 ? ['names of servers and tools, paths, and what servers wrote to stderr'] : []),
    ...(configuration === null ? [] : ['commands, arguments, addresses and paths in the configuration']),
  ];
}

function kilobytes(bytes: number): string {
  return `${Math.max(1, Math.round(bytes / 1_000))} kB`;
}

const shortTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
