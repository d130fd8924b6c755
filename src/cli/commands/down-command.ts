/** `troupe down`: ends the background process of this configuration. */
import { setTimeout as pause } from 'node:timers/promises';
import { currentProcess, hasExited } from '../../storage/lock-file.js';
import { isMet, meet, removeStale } from '../background/meet.js';
import { send } from '../background/relay-messages.js';
import { placeOf } from '../background/place.js';
import { EXIT, type ExitCode } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import type { Terminal } from '../output/terminal.js';

const POLL_MS = 20;
const EXIT_MS = 5_000;

/** Resolves when its servers are closed and it has exited. `EXIT.fine` also if none runs. */
export async function down(flags: Flags, terminal: Terminal): Promise<ExitCode> {
  const place = await placeOf(flags);
  const found = await meet(place);
  if (!isMet(found)) {
    if (found.state === 'unusable') throw new Error(found.why);
    if (found.state === 'stale') await removeStale(place, terminal.gone);
    return report(null, 'No background process runs for this configuration.', flags, terminal);
  }
  const { socket, messages, pid } = found;
  send(socket, { type: 'stop' });
  // Its end is the end of the connection.
  await messages.next().catch(() => {});
  const { host } = currentProcess();
  for (let waited = 0; !hasExited({ pid, host }); waited += POLL_MS) {
    if (waited >= EXIT_MS)
      throw new Error(`the background process (pid ${pid}) has closed its servers, but does not exit`);
    await pause(POLL_MS);
  }
  return report(pid, `The background process (pid ${pid}) has ended.`, flags, terminal);
}

function report(ended: number | null, text: string, { json }: Flags, terminal: Terminal): ExitCode {
  if (json) terminal.printJson('down', { ended });
  else terminal.print(text);
  return EXIT.fine;
}
