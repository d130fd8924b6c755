/**
 * Runs one piece of work of a command on its servers, once each of them has been tried: on a troupe that runs already, or on
 * one of its own, which starts only these servers and is closed afterwards.
 */
import { filter, firstValueFrom, from, fromEvent, map, race } from 'rxjs';
import type { ServerStatus } from '../lifecycle/status.js';
import type { Troupe } from '../runtime/troupe.js';
import { hasTag } from '../../machines/connection/connection.states.js';
import type { Flags } from './arguments/flags.js';
import { serversNamed } from './arguments/tool-target.js';
import { readConfiguration, requireEnabled, requireFound, type Configuration } from './configured-servers.js';
import { EXIT, type ExitCode } from './exit.js';
import type { CommandInput, RunningTroupe } from './host.js';
import { interruptible, makeTroupe, noteDetails, withTroupe } from './make-troupe.js';
import { showingProgress } from './output/progress.js';
import { isUsable, noteFailures, noteWarnings } from './output/server-notes.js';
import type { Terminal } from './output/terminal.js';
import { askForInputs } from './prompts/ask-for-inputs.js';

export interface NeededServers extends CommandInput {
  readonly configuration: Configuration;
  /** The servers to start. */
  readonly servers: readonly string[];
  /** Attempts for each server whose entry does not set them. Default: 1. */
  readonly maxAttempts?: number;
  /** Whether lazy servers are started too. Default: true. */
  readonly wakes?: boolean;
  /** Called with a troupe of its own before it starts. */
  readonly onTroupe?: (troupe: Troupe) => void;
}

/** Rejects with a `ConfigError` if a server is missing when the troupe has read the configuration again. */
export async function withServers(
  flags: Flags,
  terminal: Terminal,
  needed: NeededServers,
  work: (troupe: Troupe, signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { configuration, servers, stdin, running, maxAttempts = 1, wakes = true, onTroupe } = needed;
  running?.admit(servers);
  noteWarnings(configuration.warnings, servers, terminal);
  if (running !== undefined) return onRunning(running, flags, terminal, needed, work);
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

/** As on a troupe of its own: a server that has failed is tried once more. */
async function onRunning(
  { troupe, signal: interruption }: RunningTroupe,
  flags: Flags,
  terminal: Terminal,
  { servers, wakes = true }: NeededServers,
  work: (troupe: Troupe, signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const stopNoting = flags.verbose ? noteDetails(troupe, terminal) : () => {};
  try {
    return await interruptible(terminal, interruption, async (signal) => {
      await requireFound(troupe, servers, signal);
      await showingProgress(terminal, troupe.view({ servers }), async () => {
        await retryFailed(troupe, servers, signal);
        if (wakes) await wakeDormant(troupe, signal, servers);
        await settledAmong(troupe, servers, signal);
      });
      return work(troupe, signal);
    });
  } finally {
    stopNoting();
  }
}

async function retryFailed(troupe: Troupe, servers: readonly string[], signal: AbortSignal): Promise<void> {
  const failed = servers
    .flatMap((name) => troupe.connection(name) ?? [])
    .filter(({ state }) => state === 'failed');
  await Promise.allSettled(failed.map((connection) => connection.retry({ signal })));
  signal.throwIfAborted();
}

/** As `Troupe.settled`, for these servers. */
async function settledAmong(troupe: Troupe, servers: readonly string[], signal: AbortSignal): Promise<void> {
  const isOver = (row: ServerStatus): boolean =>
    !servers.includes(row.server) || (hasTag(row, 'settled') && !hasTag(row, 'enriching'));
  const aborted$ = fromEvent(signal, 'abort').pipe(
    map(() => {
      throw signal.reason;
    }),
  );
  signal.throwIfAborted();
  await firstValueFrom(race(from(troupe.status$).pipe(filter((rows) => rows.every(isOver))), aborted$));
}

/** What a command lists: offers of these servers. */
export interface ListTarget extends CommandInput {
  /** Names of servers; empty for all. */
  readonly servers: readonly string[];
}

/**
 * Shows what servers offer. Called with the usable servers among the requested ones. `EXIT.failed` if a requested server did
 * not become ready; what the others offer is shown.
 */
export async function listOffers(
  flags: Flags,
  terminal: Terminal,
  { servers, ...input }: ListTarget,
  show: (troupe: Troupe, usable: readonly string[]) => void,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const asked = requireEnabled(configuration, serversNamed(servers, configuration.names));
  return withServers(flags, terminal, { configuration, servers: asked, ...input }, async (troupe) => {
    const usable = troupe.status.filter(isUsable).map(({ server }) => server);
    show(
      troupe,
      asked.filter((name) => usable.includes(name)),
    );
    return noteFailures(troupe.status, asked, terminal) ? EXIT.failed : EXIT.fine;
  });
}

/** Lazy servers are tried like the others. Their status shows the outcome. Default: all servers. */
export async function wakeDormant(
  troupe: Pick<Troupe, 'status' | 'connection'>,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<void> {
  const dormant = troupe.status.filter(
    (status) => hasTag(status, 'dormant') && (servers === undefined || servers.includes(status.server)),
  );
  await Promise.allSettled(dormant.map(async ({ server }) => troupe.connection(server)?.start({ signal })));
  signal.throwIfAborted();
}
