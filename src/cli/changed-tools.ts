/** Which tools are other than what was approved, for a command that goes on all the same. */
import type { Troupe } from '../troupe.js';
import { oneLine } from './safe-text.js';
import type { Terminal } from './terminal.js';

/** Begins to listen; what it gives back notes what was heard. */
export function listenForChanges({
  diagnostics$,
}: Pick<Troupe, 'diagnostics$'>): (terminal: Terminal) => void {
  const messages: string[] = [];
  diagnostics$.subscribe((event) => {
    if (event.type === 'diagnostic' && event.kind === 'tool-changed') messages.push(event.message);
  });
  return (terminal) => {
    for (const message of messages) terminal.note(terminal.noteColors.yellow(oneLine(message)));
    if (messages.length > 0) terminal.note("'troupe review' shows them");
  };
}
