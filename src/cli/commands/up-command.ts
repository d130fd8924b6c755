/**
 * `troupe up`: connects every server and keeps it alive until someone stops the command. Follows changes of the files.
 */
import { defer, firstValueFrom, fromEvent, ignoreElements, map, merge, of, tap } from 'rxjs';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import type { Troupe } from '../../runtime/troupe.js';
import { askForInputs } from '../prompts/ask-for-inputs.js';
import { readConfiguration } from '../configured-servers.js';
import { fleetOf, type FleetFlags } from '../fleet-of-flags.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import { isOfTheFiles } from '../output/plain-lines.js';
import type { RecordOptions } from '../../event-log/record/record-options.js';
import type { Flags, LogFormat } from '../arguments/flags.js';
import { systemClock } from '../../ports.js';
import { makeTroupe, withTroupe } from '../make-troupe.js';
import { JsonLog } from '../output/json-log.js';
import { warningOfProcessOne } from '../process-one.js';
import { oneLine, type Terminal } from '../output/terminal.js';
import { noteWarnings } from '../output/server-notes.js';
import { openView } from '../console/up-view.js';
import { findHere } from '../../trust/found-here.js';
import { createFileTrustStore } from '../../trust/trust-store.js';
import type { Discovery } from '../../servers/discover.js';
import { asking, canAsk } from '../prompts/ask.js';
import { renderQuestion } from '../output/trust-question.js';
import { basename } from 'node:path';
import { showInspection } from '../output/show-inspection.js';
import { opened } from '../taken-port.js';
import { registeredTelemetry } from '../registered-telemetry.js';

export interface UpFlags extends Flags, FleetFlags, InspectionFlags {
  /** The file for the event log. */
  readonly record?: string;
  /** Megabytes after which a new file begins. */
  readonly recordMax: number;
  /** Whether to record every message to and from the servers. Default: false. */
  readonly recordWire?: boolean;
  /** Whether to record the content of messages too. Default: false. */
  readonly recordBodies?: boolean;
  readonly logFormat?: LogFormat;
}

/**
 * If a person can be asked, first asks about the entries that need trust and for the inputs that entries refer to.
 *
 * `EXIT.fine` if a signal stopped it or its output has no reader any more. Failed servers do not end it: a person may
 * repair them meanwhile. Throws a `UsageError` for options of a recording without a file to record to.
 */
export async function up(
  flags: UpFlags,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<ExitCode> {
  const record = recordOf(flags);
  const configuration = await readConfiguration(flags);
  const log = flags.logFormat === 'json' ? new JsonLog(terminal, systemClock, flags.verbose) : undefined;
  // The records in JSON have them.
  if (log === undefined) noteWarnings(configuration.warnings, configuration.names, terminal);
  const inform = (text: string): void =>
    log === undefined ? terminal.note(`troupe: ${text}`) : log.info(text);
  const ofProcessOne = warningOfProcessOne(process.pid);
  if (ofProcessOne !== undefined && log === undefined) inform(ofProcessOne);
  if (ofProcessOne !== undefined) log?.warn(ofProcessOne);
  if (!flags.json && log === undefined) await askAboutWaiting(configuration.discovery, terminal, stdin);
  const askInput = await askForInputs(flags, configuration.names, terminal, stdin);
  const telemetry = await registeredTelemetry((why) =>
    log === undefined ? terminal.note(oneLine(`troupe: ${why}`)) : log.warn(why),
  );
  const joined = await fleetOf(flags);
  const choice = { watch: true, record, askInput, telemetry, logger: log, ...joined };
  const troupe = makeTroupe(flags, configuration, terminal, choice);
  const note =
    flags.verbose || log !== undefined
      ? () => {}
      : (text: string) => terminal.note(oneLine(`troupe: ${text}`));
  const view = await openView(troupe, flags, { terminal, stdin, host: process });
  try {
    return await withTroupe(troupe, terminal, async (signal) => {
      const forget = await openUpInspection(troupe, flags, terminal, inform);
      try {
        return await untilStopped(troupe, signal, note);
      } finally {
        await forget();
      }
    });
  } finally {
    view.close();
    await joined?.close();
  }
}

export function recordOf({
  record,
  recordMax,
  recordWire,
  recordBodies,
}: UpFlags): RecordOptions | undefined {
  const [wire, bodies] = [recordWire === true, recordBodies === true];
  if (record === undefined) {
    if (wire || bodies)
      throw new UsageError(`${wire ? '--record-wire' : '--record-bodies'} needs a file: --record FILE.`);
    return undefined;
  }
  return { target: record, maxBytes: recordMax * 1_024 * 1_024, wire, bodies };
}

/**
 * Starts every server and waits for the signal. Notes problems of the recording and of changed files. Rejects if the
 * manager itself failed because of a bug in Troupe.
 */
export async function untilStopped(
  troupe: Pick<Troupe, 'start' | 'events$'>,
  signal: AbortSignal,
  note: (text: string) => void = () => {},
): Promise<ExitCode> {
  let hasStarted = false;
  const noteIt = (event: LifecycleEvent): void => {
    if (event.type !== 'diagnostic') return;
    if (event.kind === 'record-failed' || isOfTheFiles(event.kind, hasStarted)) note(event.message);
  };
  const stopped$ = signal.aborted ? of(signal) : fromEvent(signal, 'abort');
  const broken$ = troupe.events$.pipe(tap(throwIfBroken), ignoreElements());
  const noted$ = troupe.events$.pipe(tap(noteIt), ignoreElements());
  const started$ = defer(() => troupe.start()).pipe(
    tap(() => (hasStarted = true)),
    ignoreElements(),
  );
  return firstValueFrom(merge(stopped$, broken$, noted$, started$).pipe(map(() => EXIT.fine)));
}

function throwIfBroken(event: LifecycleEvent): void {
  if (event.type === 'manager.failed') throw new Error(`the runtime failed: ${event.message}`);
}

// Before anything starts, asks about each server that needs trust.

/** If nobody can be asked, the servers wait, and the output says how to trust them. */
export async function askAboutWaiting(
  { servers }: Pick<Discovery, 'servers'>,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<void> {
  const requests = servers.flatMap(({ enabled, trustRequest }) => (enabled ? (trustRequest ?? []) : []));
  if (requests.length === 0 || !canAsk(terminal, stdin)) return;
  const store = createFileTrustStore();
  await asking(terminal, stdin, async ({ confirm }) => {
    for (const request of requests) {
      terminal.note(renderQuestion(request, await findHere(request)));
      if (await confirm('Trust it?')) await store.trust(request);
    }
  });
}

/** The page of a running `troupe up`, if `--inspect` or `--stately` asks for it. */
interface InspectionFlags extends Pick<Flags, 'json'> {
  /** The port of the page, or true for any free port. Default: no page. */
  readonly inspect?: number | true;
  /** Whether to send events to Stately's hosted inspector. Default: false. */
  readonly stately?: boolean;
}

/**
 * Opens the inspection and prints its addresses. The returned function removes its registration; the inspection ends
 * with the troupe.
 */
async function openUpInspection(
  troupe: Pick<Troupe, 'inspect'>,
  { inspect, stately = false, json }: InspectionFlags,
  terminal: Terminal,
  inform: (text: string) => void,
): Promise<() => Promise<void>> {
  if (inspect === undefined && !stately) return async () => {};
  const title = basename(process.cwd()) || 'troupe up';
  const port = inspect === undefined || inspect === true ? 0 : inspect;
  const { url, statelyUrl } = await opened(
    troupe.inspect({ port, title: `${title} (${process.pid})`, stately }),
  );
  inform(`inspect it at ${url}`);
  if (statelyUrl !== undefined)
    inform(`Stately's hosted inspector, which receives all events: ${statelyUrl}`);
  return showInspection({ title, mode: 'live', url, opens: inspect !== undefined && !json }, terminal);
}
