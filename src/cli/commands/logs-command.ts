/** `troupe logs`: what the servers of the background process wrote to stderr, and their log messages. */
import { from, fromEvent, ignoreElements, lastValueFrom, of, takeUntil, tap } from 'rxjs';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import { readLogged, type LogEvent } from '../background/background-log.js';
import { placeOf } from '../background/place.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { serversNamed } from '../arguments/tool-target.js';
import type { CommandInput } from '../host.js';
import { toHeadline } from '../output/plain-lines.js';
import { type Colors, nameOf, oneLine, type Terminal } from '../output/terminal.js';

export interface LogsFlags extends Flags {
  /** Go on until Ctrl-C. */
  readonly follow?: boolean;
  /** How many of the last lines are shown. */
  readonly lines: number;
}

export interface LogsTarget extends CommandInput {
  /** Names of servers; empty for all. */
  readonly servers: readonly string[];
}

/**
 * With `--verbose` also what became of the servers. `EXIT.failed` if there is no log. Throws a `UsageError` for an unknown
 * server, and if a process that does not run is to be followed.
 */
export async function logs(
  flags: LogsFlags,
  terminal: Terminal,
  { servers, running }: LogsTarget,
): Promise<ExitCode> {
  if (servers.length > 0) serversNamed(servers, (await readConfiguration(flags)).names);
  if (flags.follow === true && running === undefined)
    throw new UsageError(
      "--follow: no background process runs for this configuration; start it with 'troupe up --background'",
    );
  const { log } = await placeOf(flags);
  const isWanted = (event: LifecycleEvent): event is LogEvent =>
    (servers.length === 0 || ('server' in event && servers.includes(event.server ?? ''))) &&
    (event.type === 'server.log' || (flags.verbose && toHeadline(event) !== undefined));
  const show = (event: LifecycleEvent): void => {
    if (!isWanted(event)) return;
    if (flags.json) terminal.printJson('logs', event);
    else terminal.print(toLine(event, terminal.colors));
  };
  const past = readLogged(log);
  if (past === undefined) {
    terminal.note("no log: 'troupe up --background' keeps one");
    return EXIT.failed;
  }
  if (running === undefined)
    terminal.note('No background process runs for this configuration; this is the log of the last one.');
  for (const event of past.filter(isWanted).slice(flags.lines === 0 ? past.length : -flags.lines))
    show(event);
  if (flags.follow === true && running !== undefined) {
    // From here on, without a pause after the reading: each event is shown once.
    const stop = AbortSignal.any([running.signal, running.ending, terminal.gone]);
    const over$ = stop.aborted ? of(stop) : fromEvent(stop, 'abort');
    const shown$ = from(running.troupe.events$).pipe(tap(show), takeUntil(over$), ignoreElements());
    await lastValueFrom(shown$, { defaultValue: undefined });
  }
  return EXIT.fine;
}

function toLine(event: LifecycleEvent, colors: Colors): string {
  if (event.type !== 'server.log') return colors.dim(toHeadline(event) ?? '');
  const { at, server, stream, level, message } = event;
  const from = stream === 'stderr' ? 'stderr' : (level ?? 'log');
  return `${colors.dim(new Date(at).toISOString())} ${colors.cyan(nameOf(server))} ${colors.dim(`${from}:`)} ${oneLine(message)}`;
}
