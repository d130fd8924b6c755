/**
 * Runs one piece of work of a command on its servers, once each of them has been tried: on a troupe of its own, which
 * starts only these servers and is closed afterwards.
 */
import type { Troupe } from '../runtime/troupe.js';
import { hasTag } from '../../machines/connection/connection.states.js';
import type { Flags } from './arguments/flags.js';
import { serversNamed } from './arguments/tool-target.js';
import { readConfiguration, requireEnabled, requireFound, type Configuration } from './configured-servers.js';
import { EXIT, type ExitCode } from './exit.js';
import { makeTroupe, withTroupe } from './make-troupe.js';
import { showingProgress } from './output/progress.js';
import { isUsable, noteFailures, noteWarnings } from './output/server-notes.js';
import type { Terminal } from './output/terminal.js';
import { askForInputs } from './prompts/ask-for-inputs.js';

export interface NeededServers {
  readonly configuration: Configuration;
  /** The servers to start. */
  readonly servers: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
  /** Attempts for each server whose entry does not set them. Default: 1. */
  readonly maxAttempts?: number;
  /** Whether lazy servers are started too. Default: true. */
  readonly wakes?: boolean;
  /** Called with the troupe before it starts. */
  readonly onTroupe?: (troupe: Troupe) => void;
}

/** Rejects with a `ConfigError` if a server is missing when the troupe has read the configuration again. */
export async function withServers(
  flags: Flags,
  terminal: Terminal,
  needed: NeededServers,
  work: (troupe: Troupe, signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { configuration, servers, stdin, maxAttempts = 1, wakes = true, onTroupe } = needed;
  noteWarnings(configuration.warnings, servers, terminal);
  const askInput = await askForInputs(flags, servers, terminal, stdin);
  const troupe = makeTroupe(flags, configuration, terminal, { maxAttempts, only: servers, askInput });
  onTroupe?.(troupe);
  return withTroupe(troupe, terminal, async (signal) => {
    await showingProgress(terminal, troupe, async () => {
      await troupe.settled({ signal });
      if (!wakes) return;
      await wakeDormant(troupe, signal);
      await troupe.settled({ signal });
    });
    await requireFound(troupe, servers, signal);
    return work(troupe, signal);
  });
}

/** What a command lists: offers of these servers. */
export interface ListTarget {
  /** Names of servers; empty for all. */
  readonly servers: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
}

/**
 * Shows what servers offer. Called with the usable servers among the requested ones. `EXIT.failed` if a requested server did
 * not become ready; what the others offer is shown.
 */
export async function listOffers(
  flags: Flags,
  terminal: Terminal,
  { servers, stdin }: ListTarget,
  show: (troupe: Troupe, usable: readonly string[]) => void,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const asked = requireEnabled(configuration, serversNamed(servers, configuration.names));
  return withServers(flags, terminal, { configuration, servers: asked, stdin }, async (troupe) => {
    const usable = troupe.status.filter(isUsable).map(({ server }) => server);
    show(
      troupe,
      asked.filter((name) => usable.includes(name)),
    );
    return noteFailures(troupe.status, asked, terminal) ? EXIT.failed : EXIT.fine;
  });
}

/** Lazy servers are tried like the others. Their status shows the outcome. */
export async function wakeDormant(
  troupe: Pick<Troupe, 'status' | 'connection'>,
  signal: AbortSignal,
): Promise<void> {
  const dormant = troupe.status.filter((status) => hasTag(status, 'dormant'));
  await Promise.allSettled(dormant.map(async ({ server }) => troupe.connection(server)?.start({ signal })));
  signal.throwIfAborted();
}
