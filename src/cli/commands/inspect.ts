/** `troupe inspect`: shows a log in the browser, or what a `troupe up --inspect` of the same user is doing. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { readLog } from '../../event-log/read-log.js';
import { FileSource } from '../../inspection/file-source.js';
import { inspectionFolder, runningInspections, type FoundInspection } from '../../inspection/registration.js';
import { openInspectionServer } from '../../inspection/server.js';
import { systemClock } from '../../ports.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { checkReadTwice, filesOfLog } from '../replay-files.js';
import { oneLine } from '../safe-text.js';
import { openDoor, showInspection } from '../show-inspection.js';
import { listenForStop } from '../signals.js';
import { opened } from '../taken-port.js';
import type { Terminal } from '../terminal.js';
import { UsageError } from '../usage-error.js';

export interface InspectFlags extends Flags {
  /** The port that the page of a log is served on. Default: any that is free. */
  readonly port?: number;
  /** Number of the process to attach to. Default: the only one. */
  readonly pid?: number;
  /** Whether a browser is opened at a desktop. Default true. */
  readonly open?: boolean;
}

/**
 * With a log, serves it until Ctrl-C. Without one, tells the address of what runs; `EXIT.failed` where nothing does.
 * Throws a `UsageError` where the log is none, or several run and none was chosen.
 */
export async function inspect(
  flags: InspectFlags,
  terminal: Terminal,
  logs: readonly string[],
): Promise<ExitCode> {
  return logs.length === 0 ? attach(flags, terminal) : serve(flags, terminal, logs);
}

async function attach(flags: InspectFlags, terminal: Terminal): Promise<ExitCode> {
  const found = await runningInspections(await inspectionFolder());
  const running = found.filter(({ mode, pid }) => mode === 'live' && [undefined, pid].includes(flags.pid));
  const [only, ...others] = running;
  if (only === undefined) {
    const which = flags.pid === undefined ? '' : ` with the number ${flags.pid}`;
    terminal.note(`troupe: no 'troupe up --inspect' of yours runs${which}. Start one, or name a log.`);
    return EXIT.failed;
  }
  if (others.length > 0) throw new UsageError(`Several run; choose one with --pid: ${describe(running)}.`);
  tell(only.url, flags, terminal);
  if (mayOpen(flags)) openDoor(only.door, terminal);
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
  const files = await filesOfLog(logs);
  await checkReadTwice(files, 'the page needs');
  const title = basename(files.at(-1) ?? '');
  await checkBeginning(files[0] ?? '');
  const source = new FileSource(files, title, systemClock);
  const server = await opened(openInspectionServer({ source, clock: systemClock, port: flags.port ?? 0 }));
  const shown = { title, mode: 'file', url: server.url, opens: mayOpen(flags) } as const;
  const forget = await showInspection(shown, terminal);
  const interruption = new AbortController();
  const stopListening = listenForStop(process, systemClock, () => interruption.abort());
  try {
    tell(server.url, flags, terminal);
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

/** Throws a `UsageError` for what does not begin as a log does; everything else the page tells. */
async function checkBeginning(file: string): Promise<void> {
  for await (const piece of readLog(createReadStream(file))) {
    if (piece.type === 'problem') throw new UsageError(`'${file}' is no event log: ${piece.problem.message}`);
    return;
  }
}

function mayOpen({ json, open = true }: InspectFlags): boolean {
  return open && !json;
}

function tell(url: string, { json }: InspectFlags, terminal: Terminal): void {
  terminal.print(json ? JSON.stringify({ url }) : url);
}
