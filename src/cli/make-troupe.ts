/** Creates the troupe of a command, with the servers that it needs, and runs its work. */
import type { DiagnosticKind } from '../diagnostic-kind.js';
import type { Fleet } from '../fleet/stores.js';
import type { AuthOptions } from '../auth/auth-options.js';
import { createFileTrustStore } from '../trust/trust-store.js';
import type { RecordTarget } from '../event-log/record/record-options.js';
import type { ConfigProblem } from '../errors.js';
import type { TroupeOptions } from '../options.js';
import type { ReviewMode } from '../review/review-option.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { TIMEOUT_VARIABLE } from '../config/entry/effective-settings.js';
import { createFileReviewStore } from '../review/review-store.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { createTroupe, type Troupe } from '../runtime/troupe.js';
import { sourcesOf, type Configuration } from './configured-servers.js';
import { type Flags, MAX_TIMER_MS } from './arguments/flags.js';
import { toDetail } from './output/plain-lines.js';
import { type Terminal, oneLine } from './output/terminal.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import { systemClock, type Logger } from '../ports.js';
import { EXIT, type ExitCode, listenForStop } from './exit.js';

export interface TroupeChoice {
  /** Attempts for each server whose entry does not set them. Default: from the policy. */
  readonly maxAttempts?: number;
  /** The servers to start. Default: all. */
  readonly only?: readonly string[];
  /** Whether to follow changes of the files. Default: false. */
  readonly watch?: boolean;
  /** Default: existing sign-ins are used, and nobody is asked to sign in. */
  readonly auth?: AuthOptions;
  /** What to do with tools that differ from what was accepted. Default: report them. */
  readonly review?: ReviewMode;
  /** Default: nobody can be asked. */
  readonly askInput?: TroupeOptions['askInput'];
  /** Default: nothing is recorded. */
  readonly record?: RecordTarget | undefined;
  /** Default: none. */
  readonly telemetry?: Telemetry | undefined;
  /** The fleet of which it is a host. Default: none. */
  readonly fleet?: Fleet | undefined;
  /** Gets what happens, instead of notes. Default: notes for a person. */
  readonly logger?: Logger | undefined;
}

/** Notes problems of its stores; with `--verbose`, also every event. */
export function makeTroupe(
  flags: Flags,
  configuration: Pick<Configuration, 'names' | 'warnings'>,
  terminal: Terminal,
  choice: TroupeChoice = {},
): Troupe {
  const troupe = createTroupe(toTroupeOptions(flags, configuration, choice));
  if (choice.logger !== undefined) return troupe;
  if (flags.verbose) noteDetails(troupe, terminal);
  else noteStoreProblems(troupe, terminal, configuration.warnings);
  return troupe;
}

/** The options for these flags and this choice. */
export function toTroupeOptions(
  flags: Flags,
  { names }: Pick<Configuration, 'names'>,
  choice: TroupeChoice = {},
): Omit<TroupeOptions, 'handlers' | 'capabilities'> {
  const { maxAttempts, only = names, watch = false, auth = { interactive: false } } = choice;
  const { askInput, fleet, logger, record, telemetry, review: mode = 'report' } = choice;
  const { config, servers, discover } = sourcesOf(flags);
  const { timeout } = flags;
  const unneeded = names.filter((name) => !only.includes(name));
  return {
    config,
    discover,
    servers: { ...servers, ...takenOut(unneeded) },
    watch,
    trustStore: createFileTrustStore(),
    review: { mode, store: createFileReviewStore() },
    auth,
    ...(askInput === undefined ? {} : { askInput }),
    ...(fleet === undefined ? {} : { fleet }),
    ...(record === undefined ? {} : { record }),
    ...(telemetry === undefined ? {} : { telemetry }),
    ...(logger === undefined ? {} : { logger }),
    ...(timeout === undefined ? {} : { env: { ...process.env, [TIMEOUT_VARIABLE]: String(timeout) } }),
    ...(maxAttempts === undefined ? {} : { policy: { maxAttempts } }),
  };
}

/** Servers of the host take precedence over every file, so a disabled entry of the same name removes a server. */
function takenOut(names: readonly string[]): Record<string, ServerConfig> {
  return Object.fromEntries(names.map((name) => [name, { command: 'none', enabled: false }]));
}

/** Until the returned function is called, or the troupe is closed. */
export function noteDetails({ events$ }: Troupe, terminal: Terminal): () => void {
  const following = events$.subscribe((event) => {
    const detail = toDetail(event);
    if (detail !== undefined) terminal.note(terminal.noteColors.dim(detail));
  });
  return () => following.unsubscribe();
}

// Problems of stores and of sign-ins, for a person. Each reason is reported once, however often it occurs.

/** Where to look, by the kind of the diagnostic. */
const ADVICE: ReadonlyMap<DiagnosticKind, string> = new Map([
  ['review-problem', "; see 'troupe review'"],
  ['trust-store-problem', ''],
  ['sign-in-not-stored', ''],
  ['sign-in-failed', ''],
]);

/**
 * The function returns the message for an event; undefined if that was reported before, by itself or among the warnings
 * about the configuration, or if the event is no such problem.
 */
export function storeProblems(
  warnings: readonly ConfigProblem[],
): (event: LifecycleEvent) => string | undefined {
  const reported = new Set(warnings.map(({ message }) => message));
  return (event) => {
    const advice = event.type === 'diagnostic' ? ADVICE.get(event.kind) : undefined;
    if (event.type !== 'diagnostic' || advice === undefined || reported.has(event.message)) return undefined;
    reported.add(event.message);
    return `${event.message}${advice}`;
  };
}

/** Runs for as long as the troupe lives. */
export function noteStoreProblems(
  { diagnostics$ }: Pick<Troupe, 'diagnostics$'>,
  terminal: Terminal,
  warnings: readonly ConfigProblem[],
): void {
  const problemOf = storeProblems(warnings);
  diagnostics$.subscribe((event) => {
    const problem = problemOf(event);
    if (problem !== undefined) terminal.note(terminal.noteColors.yellow(oneLine(problem)));
  });
}

// Runs one piece of work on a troupe and cleans up, however the work ends.
//
// W1. The first Ctrl-C aborts the work's signal, the second one kills what is still closing.
// W2. The troupe is closed before the returned promise settles.
// W3. The process lives as long as the work, even if no server keeps it alive.

/**
 * Runs the work with a signal for the interruption and for the end of the reader. Returns `EXIT.failed` if the work throws
 * because of it. Passes every other error on to the caller.
 */
export async function interruptible(
  terminal: Terminal,
  interruption: AbortSignal,
  work: (signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const signal = AbortSignal.any([interruption, terminal.gone]);
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    if (interruption.aborted) terminal.note('troupe: interrupted');
    return EXIT.failed;
  }
}

/** As `interruptible`, by signals of the process. */
export async function withTroupe(
  troupe: Troupe,
  terminal: Terminal,
  work: (signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const interruption = new AbortController();
  const stopListening = listenForStop(process, systemClock, (press) => {
    interruption.abort();
    if (press > 1) void troupe.kill();
  });
  const life = setInterval(() => {}, MAX_TIMER_MS);
  try {
    return await interruptible(terminal, interruption.signal, work);
  } finally {
    await troupe.close();
    clearInterval(life);
    stopListening();
  }
}
