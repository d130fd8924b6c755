/** `troupe inspect`: shows a log, or a running `troupe up --inspect` of the same user, in the browser. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { readLog } from '../../event-log/format/read-log.js';
import { FileSource } from '../../inspector/file-source.js';
import type { InspectionSource } from '../../inspector/inspection-source.js';
import { inspectionFolder, runningInspections, type FoundInspection } from '../../inspector/registration.js';
import { openInspectionServer } from '../../inspector/inspection-server.js';
import { systemClock } from '../../ports.js';
import { fleetOf, FLEET_VARIABLE } from '../fleet-of-flags.js';
import { EXIT, type ExitCode, UsageError, listenForStop } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { checkReadTwice, runsOfLogs } from '../replay-files.js';
import { oneLine, type Terminal } from '../output/terminal.js';
import { openInspection, showInspection } from '../output/show-inspection.js';
import { opened } from '../taken-port.js';

export interface InspectFlags extends Flags {
  /** Port for the page of a log. Default: any free port. */
  readonly port?: number;
  /** Id of the process to attach to. Default: the only one. */
  readonly pid?: number;
  /** The engine of a fleet; true is the one of the variable. Default: no fleet is shown. */
  readonly fleet?: string | true;
  /** Whether to open a browser at a desktop. Default true. */
  readonly open?: boolean;
}

/**
 * With a log or a fleet, serves it until Ctrl-C. Without one, prints the address of the running inspection, or returns
 * `EXIT.failed` if there is none. Throws a `UsageError` if the file is not a log, if the fleet cannot be used, or if several inspections run and
 * none was chosen.
 */
export async function inspect(
  flags: InspectFlags,
  terminal: Terminal,
  logs: readonly string[],
): Promise<ExitCode> {
  if (flags.fleet !== undefined) return serveFleet(flags, terminal, logs);
  return logs.length === 0 ? attach(flags, terminal) : serve(flags, terminal, logs);
}

async function attach(flags: InspectFlags, terminal: Terminal): Promise<ExitCode> {
  const found = await runningInspections(await inspectionFolder());
  const running = found.filter(({ mode, pid }) => mode === 'live' && [undefined, pid].includes(flags.pid));
  const [only, ...others] = running;
  if (only === undefined) {
    const which = flags.pid === undefined ? '' : ` with the process id ${flags.pid}`;
    terminal.note(`troupe: no 'troupe up --inspect' of yours is running${which}. Start one, or name a log.`);
    return EXIT.failed;
  }
  if (others.length > 0)
    throw new UsageError(`Several are running; choose one with --pid: ${describe(running)}.`);
  printUrl(only.url, flags, terminal);
  if (mayOpen(flags)) openInspection(only.door, terminal);
  return EXIT.fine;
}

function describe(running: readonly FoundInspection[]): string {
  return running
    .map(
      ({ pid, title, startedAt }) => `${pid} (${oneLine(title)}, since ${new Date(startedAt).toISOString()})`,
    )
    .join(', ');
}

async function serve(flags: InspectFlags, terminal: Terminal, logs: readonly string[]): Promise<ExitCode> {
  const runs = await runsOfLogs(logs);
  const files = runs.flatMap(({ parts }) => parts.map(({ file }) => file));
  await checkReadTwice(files, 'the page needs');
  const title = [...new Set(runs.map(({ parts }) => basename(parts.at(-1)?.file ?? '')))].join(', ');
  for (const { parts } of runs) await checkBeginning(parts[0]?.file ?? '');
  const shownRuns = runs.map(({ label, parts }) => ({
    label: label ?? '',
    parts: parts.map(({ source }) => source() as string | Uint8Array),
  }));
  const source = new FileSource(shownRuns, title, systemClock, runs.find(({ report }) => report)?.report);
  return serveUntilStopped(source, title, flags, terminal);
}

async function serveFleet(
  flags: InspectFlags,
  terminal: Terminal,
  logs: readonly string[],
): Promise<ExitCode> {
  if (logs.length > 0) throw new UsageError('--fleet shows hosts, and no log: give one of them.');
  const joined = await fleetOf(typeof flags.fleet === 'string' ? { fleet: flags.fleet } : {});
  if (joined === undefined) throw new UsageError(`--fleet needs an address, or ${FLEET_VARIABLE}.`);
  const { FleetSource } = await import('../../inspector/fleet-source.js');
  try {
    const title = 'Fleet';
    const source = new FleetSource({ fleet: joined.fleet, clock: systemClock, title });
    return await serveUntilStopped(source, title, flags, terminal);
  } finally {
    await joined.close();
  }
}

async function serveUntilStopped(
  source: InspectionSource,
  title: string,
  flags: InspectFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const server = await opened(openInspectionServer({ source, clock: systemClock, port: flags.port ?? 0 }));
  const shown = { title, mode: 'file', url: server.url, opens: mayOpen(flags) } as const;
  const forget = await showInspection(shown, terminal);
  const interruption = new AbortController();
  const stopListening = listenForStop(process, systemClock, () => interruption.abort());
  try {
    printUrl(server.url, flags, terminal);
    if (!flags.json) terminal.note('troupe: Ctrl-C stops.');
    await aborted(AbortSignal.any([interruption.signal, terminal.gone]));
    return EXIT.fine;
  } finally {
    stopListening();
    await forget();
    await server.close();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Throws a `UsageError` if the file does not begin like a log. The page reports every later problem. */
async function checkBeginning(file: string): Promise<void> {
  for await (const piece of readLog(createReadStream(file))) {
    if (piece.type === 'problem')
      throw new UsageError(`'${file}' is not an event log: ${piece.problem.message}`);
    return;
  }
}

function mayOpen({ json, open = true }: InspectFlags): boolean {
  return open && !json;
}

function printUrl(url: string, { json }: InspectFlags, terminal: Terminal): void {
  if (json) terminal.printJson('inspect', { url });
  else terminal.print(url);
}
