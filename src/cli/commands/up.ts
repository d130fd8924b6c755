/** `troupe up`: connects every server and keeps it alive until somebody stops the command. */
import { filter, firstValueFrom, from, fromEvent, ignoreElements, map, merge } from 'rxjs';
import { createTroupe } from '../../troupe.js';
import { readConfiguration, toTroupeOptions } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
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
  const troupe = createTroupe(toTroupeOptions(flags, configuration));
  const view = await openView(troupe, flags, terminal);
  try {
    return await withTroupe(troupe, terminal, async (signal) => {
      const stopped$ = fromEvent(signal, 'abort').pipe(map(() => EXIT.fine));
      const broken$ = troupe.events$.pipe(
        filter(({ type }) => type === 'manager.failed'),
        map(() => EXIT.failed),
      );
      const started$ = from(troupe.start()).pipe(ignoreElements());
      return firstValueFrom(merge(stopped$, broken$, started$));
    });
  } finally {
    view.close();
  }
}
