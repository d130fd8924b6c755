/** `troupe up`: connects every server and keeps it alive until somebody stops the command. */
import { firstValueFrom, from, fromEvent, ignoreElements, map, merge, of, tap } from 'rxjs';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import type { Troupe } from '../../troupe.js';
import { readConfiguration } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { openView } from '../up-view.js';
import { withTroupe } from '../with-troupe.js';

/**
 * `EXIT.fine` where a signal stopped it or nobody reads its output any more. Servers that failed do not end it: a
 * person may repair what they need meanwhile.
 */
export async function up(flags: Flags, terminal: Terminal): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  noteWarnings(configuration.warnings, configuration.names, terminal);
  const troupe = makeTroupe(flags, configuration, terminal);
  const view = await openView(troupe, flags, terminal);
  try {
    return await withTroupe(troupe, terminal, (signal) => untilStopped(troupe, signal));
  } finally {
    view.close();
  }
}

/** Starts every server and waits for the signal. Rejects where the manager itself died of an error of ours. */
export async function untilStopped(
  troupe: Pick<Troupe, 'start' | 'events$'>,
  signal: AbortSignal,
): Promise<ExitCode> {
  const stopped$ = signal.aborted ? of(signal) : fromEvent(signal, 'abort');
  const broken$ = troupe.events$.pipe(tap(throwIfBroken), ignoreElements());
  const started$ = from(troupe.start()).pipe(ignoreElements());
  return firstValueFrom(merge(stopped$, broken$, started$).pipe(map(() => EXIT.fine)));
}

function throwIfBroken(event: LifecycleEvent): void {
  if (event.type === 'manager.failed') throw new Error(`the runtime failed: ${event.message}`);
}
