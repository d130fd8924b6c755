/**
 * `troupe up`: connects every server and keeps it alive until somebody stops the command. Obeys changes of the files.
 */
import { firstValueFrom, from, fromEvent, ignoreElements, map, merge, of, switchMap, tap } from 'rxjs';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import type { Troupe } from '../../troupe.js';
import { askAboutWaiting } from '../ask-about-waiting.js';
import { readConfiguration } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { oneLine } from '../safe-text.js';
import { noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { openView } from '../up-view.js';
import { withTroupe } from '../with-troupe.js';

/**
 * Asks first about what waits for approval, where somebody is there to answer.
 *
 * `EXIT.fine` where a signal stopped it or nobody reads its output any more. Servers that failed do not end it: a
 * person may repair what they need meanwhile.
 */
export async function up(flags: Flags, terminal: Terminal, stdin: NodeJS.ReadableStream): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  noteWarnings(configuration.warnings, configuration.names, terminal);
  if (!flags.json) await askAboutWaiting(configuration.discovery, terminal, stdin);
  const troupe = makeTroupe(flags, configuration, terminal, { watch: true });
  const note = flags.verbose ? () => {} : (text: string) => terminal.note(oneLine(`troupe: ${text}`));
  const view = await openView(troupe, flags, terminal);
  try {
    return await withTroupe(troupe, terminal, (signal) => untilStopped(troupe, signal, note));
  } finally {
    view.close();
  }
}

/** What a person who changes the files wants to know. */
const OF_THE_FILES: ReadonlySet<string> = new Set([
  'config-reloaded',
  'config-problem',
  'reload-failed',
  'watch-problem',
]);

/**
 * Starts every server and waits for the signal; from the start on, notes what came of changed files. Rejects where the
 * manager itself died of an error of ours.
 */
export async function untilStopped(
  troupe: Pick<Troupe, 'start' | 'events$'>,
  signal: AbortSignal,
  note: (text: string) => void = () => {},
): Promise<ExitCode> {
  const stopped$ = signal.aborted ? of(signal) : fromEvent(signal, 'abort');
  const broken$ = troupe.events$.pipe(tap(throwIfBroken), ignoreElements());
  const changed$ = troupe.events$.pipe(tap(noteChanges(note)), ignoreElements());
  const started$ = from(troupe.start()).pipe(switchMap(() => changed$));
  return firstValueFrom(merge(stopped$, broken$, started$).pipe(map(() => EXIT.fine)));
}

function noteChanges(note: (text: string) => void): (event: LifecycleEvent) => void {
  return (event) => {
    if (event.type === 'diagnostic' && OF_THE_FILES.has(event.kind)) note(event.message);
  };
}

function throwIfBroken(event: LifecycleEvent): void {
  if (event.type === 'manager.failed') throw new Error(`the runtime failed: ${event.message}`);
}
