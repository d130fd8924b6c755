/**
 * `troupe up`: connects every server and keeps it alive until somebody stops the command. Obeys changes of the files.
 */
import { firstValueFrom, from, fromEvent, ignoreElements, map, merge, of, tap } from 'rxjs';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import type { Troupe } from '../../troupe.js';
import { askAboutWaiting } from '../ask-about-waiting.js';
import { askForInputs } from '../ask-for-inputs.js';
import { readConfiguration } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { isOfTheFiles } from '../file-events.js';
import type { RecordOptions } from '../../event-log/record-options.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { oneLine } from '../safe-text.js';
import { noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { openUpInspection, type InspectionFlags } from '../up-inspection.js';
import { openView } from '../up-view.js';
import { UsageError } from '../usage-error.js';
import { withTroupe } from '../with-troupe.js';

export interface UpFlags extends Flags, InspectionFlags {
  /** The file that the event log is written to. */
  readonly record?: string;
  /** Megabytes after which a new file begins. */
  readonly recordMax: number;
  /** Whether every message to and from the servers is noted. Default: not. */
  readonly recordWire?: boolean;
  /** Whether the messages themselves are. Default: not. */
  readonly recordBodies?: boolean;
}

/**
 * Asks first about what waits for approval, and for the answers that entries refer to, where somebody is there.
 *
 * `EXIT.fine` where a signal stopped it or nobody reads its output any more. Servers that failed do not end it: a
 * person may repair what they need meanwhile. Throws a `UsageError` where it is told what to record, and not where to.
 */
export async function up(
  flags: UpFlags,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<ExitCode> {
  const record = recordOf(flags);
  const configuration = await readConfiguration(flags);
  noteWarnings(configuration.warnings, configuration.names, terminal);
  if (!flags.json) await askAboutWaiting(configuration.discovery, terminal, stdin);
  const askInput = await askForInputs(flags, configuration.names, terminal, stdin);
  const choice = { watch: true, record, askInput };
  const troupe = makeTroupe(flags, configuration, terminal, choice);
  const note = flags.verbose ? () => {} : (text: string) => terminal.note(oneLine(`troupe: ${text}`));
  const view = await openView(troupe, flags, terminal);
  try {
    return await withTroupe(troupe, terminal, async (signal) => {
      const forget = await openUpInspection(troupe, flags, terminal);
      try {
        return await untilStopped(troupe, signal, note);
      } finally {
        await forget();
      }
    });
  } finally {
    view.close();
  }
}

function recordOf({ record, recordMax, recordWire, recordBodies }: UpFlags): RecordOptions | undefined {
  const [wire, bodies] = [recordWire === true, recordBodies === true];
  if (record === undefined) {
    if (wire || bodies)
      throw new UsageError(`${wire ? '--record-wire' : '--record-bodies'} needs a file: --record FILE.`);
    return undefined;
  }
  return { target: record, maxBytes: recordMax * 1_024 * 1_024, wire, bodies };
}

/**
 * Starts every server and waits for the signal; notes what comes of the recording and of changed files. Rejects where
 * the manager itself died of an error of ours.
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
  const started$ = from(troupe.start()).pipe(
    tap(() => (hasStarted = true)),
    ignoreElements(),
  );
  return firstValueFrom(merge(stopped$, broken$, noted$, started$).pipe(map(() => EXIT.fine)));
}

function throwIfBroken(event: LifecycleEvent): void {
  if (event.type === 'manager.failed') throw new Error(`the runtime failed: ${event.message}`);
}
