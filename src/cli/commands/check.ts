/** `troupe check`: tries every server, tells why those fail that do, and leaves. */
import type { ServerStatus } from '../../lifecycle/status.js';
import type { Troupe } from '../../troupe.js';
import { askForInputs } from '../ask-for-inputs.js';
import { renderCheck } from '../check-report.js';
import { readConfiguration, requireFound } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { showingProgress } from '../progress.js';
import { noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { withTroupe } from '../with-troupe.js';

export interface CheckFlags extends Flags {
  readonly attempts: number;
}

/** `EXIT.fine` only where every enabled server is ready. */
export async function check(
  flags: CheckFlags,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  noteWarnings(configuration.warnings, configuration.names, terminal);
  const askInput = await askForInputs(flags, configuration.names, terminal, stdin);
  const troupe = makeTroupe(flags, configuration, terminal, { maxAttempts: flags.attempts, askInput });
  return withTroupe(troupe, terminal, async (signal) => {
    await showingProgress(terminal, troupe, async () => {
      await troupe.settled({ signal });
      await wakeDormant(troupe, signal);
    });
    await requireFound(troupe, configuration.names, signal);
    const { status } = troupe;
    terminal.print(
      flags.json ? JSON.stringify({ servers: status }, null, 2) : renderCheck(status, terminal.colors),
    );
    const areTold = configuration.names.every((name) => status.some((row) => row.name === name));
    return areTold && status.every(isFine) ? EXIT.fine : EXIT.failed;
  });
}

/** Lazy servers are tried like the others. What becomes of them, their status tells. */
export async function wakeDormant(
  troupe: Pick<Troupe, 'status' | 'connection'>,
  signal: AbortSignal,
): Promise<void> {
  const dormant = troupe.status.filter(({ substate }) => substate === 'dormant');
  await Promise.allSettled(dormant.map(async ({ name }) => troupe.connection(name)?.start({ signal })));
  signal.throwIfAborted();
}

function isFine({ state, reason }: ServerStatus): boolean {
  return state === 'ready' || reason === 'disabled';
}
