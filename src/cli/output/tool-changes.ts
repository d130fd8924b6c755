/** Which tools differ from what was accepted, as a troupe has reported it. */
import type { Troupe } from '../../runtime/troupe.js';
import { oneLine, type Terminal } from './terminal.js';

/** A tool that differs; without a name, several. */
interface ToolChange {
  readonly server: string | undefined;
  readonly message: string;
}

/** Follows a troupe that has not started. The returned function says which tools differ by now. */
export function followToolChanges({ events$ }: Pick<Troupe, 'events$'>): () => readonly ToolChange[] {
  const changes = new Map<string, ToolChange>();
  const keyOf = (server = '', tool = ''): string => JSON.stringify([server, tool]);
  events$.subscribe((event) => {
    if (event.type === 'tool.accepted') changes.delete(keyOf(event.server, event.tool));
    if (event.type !== 'diagnostic' || event.kind !== 'tool-changed') return;
    const { server, tool, message } = event;
    changes.set(keyOf(server, tool), { server, message });
  });
  return () => [...changes.values()];
}

/** The command continues all the same. */
export function noteToolChanges(
  changes: readonly ToolChange[],
  servers: readonly string[],
  terminal: Terminal,
): void {
  const own = changes.filter(({ server }) => server === undefined || servers.includes(server));
  for (const { message } of own) terminal.note(terminal.noteColors.yellow(oneLine(message)));
  if (own.length > 0) terminal.note("'troupe review' shows them");
}
