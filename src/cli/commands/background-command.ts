/**
 * `troupe up --background`: starts a process that keeps the servers connected for later commands.
 *
 * U1. What a person has to decide is asked before the process starts, at the terminal of this command.
 * U2. The command ends when each server has been tried. Until then, its end is also the end of the process.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { Subject } from 'rxjs';
import type { ServerStatus } from '../../lifecycle/status.js';
import { systemClock } from '../../ports.js';
import type { Flags } from '../arguments/flags.js';
import { openLog } from '../background/background-log.js';
import { isMet, isSameVersion, meet } from '../background/meet.js';
import { placeOf, requireOutsideProject, type Place } from '../background/place.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode, listenForStop } from '../exit.js';
import { shortDuration } from '../output/duration.js';
import { showingProgress } from '../output/progress.js';
import { noteWarnings } from '../output/server-notes.js';
import type { Terminal } from '../output/terminal.js';
import { collectInputs } from '../prompts/ask-for-inputs.js';
import { COMMAND, type Order, type Report, type UpBackgroundFlags } from './background-process.js';
import { isFine, renderCheck } from './check-command.js';
import { askAboutWaiting, recordOf } from './up-command.js';

type Outcome = Exclude<Report, { readonly type: 'status' }>;

/** `EXIT.failed` if a server is not ready; the process runs all the same. */
export async function upInBackground(
  flags: UpBackgroundFlags,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<ExitCode> {
  recordOf(flags);
  const configuration = await readConfiguration(flags);
  noteWarnings(configuration.warnings, configuration.names, terminal);
  const place = await placeOf(flags);
  await requireOutsideProject(place);
  const found = await meet(place);
  if (isMet(found)) {
    found.socket.destroy();
    if (!isSameVersion(found))
      throw new Error(`one of version ${found.version} runs (pid ${found.pid}): end it with 'troupe down'`);
    return reportTaken(found.pid, place, flags, terminal);
  }
  if (found.state === 'unusable') throw new Error(found.why);
  if (!flags.json) await askAboutWaiting(configuration.discovery, terminal, stdin);
  const answers = (await collectInputs(flags, configuration.names, terminal, stdin)) ?? null;
  return startProcess({ flags, answers }, place, terminal);
}

async function startProcess(order: Order, place: Place, terminal: Terminal): Promise<ExitCode> {
  const log = openLog(place.log);
  const child = fork(process.argv[1] ?? '', [COMMAND], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  let isInterrupted = false;
  const stopListening = listenForStop(process, systemClock, () => {
    isInterrupted = true;
    if (child.connected) child.disconnect();
  });
  try {
    const report = await outcomeOf(child, order, terminal);
    if (isInterrupted) terminal.note('troupe: interrupted');
    if (report === undefined)
      throw new Error(
        isInterrupted ? 'interrupted' : `the background process ended at once; its log: ${place.log}`,
      );
    if (report.type === 'failed') throw new Error(report.message);
    if (report.type === 'taken') return reportTaken(report.pid, place, order.flags, terminal);
    return reportStarted(report.status, child, order, { place, terminal });
  } finally {
    stopListening();
    if (child.connected) child.disconnect();
    child.unref();
  }
}

/** Undefined if the process has ended before. */
async function outcomeOf(
  child: ChildProcess,
  order: Order,
  terminal: Terminal,
): Promise<Outcome | undefined> {
  let status: readonly ServerStatus[] = [];
  const events$ = new Subject<never>();
  const shown = {
    get status() {
      return status;
    },
    events$,
  };
  child.send(order);
  return showingProgress(terminal, shown, async () => {
    const ended = once(child, 'exit').then(() => undefined);
    const reported = new Promise<Outcome>((resolve) => {
      child.on('message', (message) => {
        const report = message as Report;
        if (report.type !== 'status') return resolve(report);
        status = report.status;
        return events$.next(undefined as never);
      });
    });
    return Promise.race([reported, ended]);
  });
}

function reportTaken(pid: number | null, { log }: Place, { json }: Flags, terminal: Terminal): ExitCode {
  if (json) terminal.printJson('up', { pid, log, started: false });
  else terminal.print(`A background process runs already (pid ${pid}); 'troupe down' ends it.`);
  return EXIT.fine;
}

function reportStarted(
  status: readonly ServerStatus[],
  child: ChildProcess,
  { flags }: Order,
  { place, terminal }: { readonly place: Place; readonly terminal: Terminal },
): ExitCode {
  child.send('started');
  const { pid = null } = child;
  const { log } = place;
  if (flags.json) terminal.printJson('up', { pid, log, started: true, servers: status });
  else {
    const until = flags.idle === 0 ? '' : `, until ${shortDuration(flags.idle)} pass without a command`;
    terminal.print(
      [
        ...(status.length === 0 ? [] : [renderCheck(status, terminal.colors), '']),
        `Runs in the background (pid ${pid})${until}; 'troupe down' ends it. Its log: ${log}`,
      ].join('\n'),
    );
  }
  return status.every(isFine) ? EXIT.fine : EXIT.failed;
}
