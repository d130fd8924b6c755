/** How a command ends: its exit codes, the error for a command line that makes no sense, and the signals that stop it. */
import type { Clock } from '../ports.js';

export const EXIT = {
  fine: 0,
  /** A requested operation failed, or was interrupted. */
  failed: 1,
  /** The command line or the configuration is wrong; nothing was started. */
  usage: 2,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line names something that does not exist, or makes no sense. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

// Ctrl-C and the other signals that stop a process.
//
// One press may arrive twice: the terminal sends it to the whole foreground group, and a runner in that group, such as
// `npm`, passes it on to its child. A signal within `SAME_PRESS_MS` therefore counts as the same press.

/** What services take as the order to read their configuration again. */
const RELOAD: NodeJS.Signals = 'SIGHUP';
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
export const SAME_PRESS_MS = 500;

export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
}

/** Listens until the returned function is called. */
export function listenForSignals(
  source: SignalSource,
  onSignal: (signal: NodeJS.Signals) => void,
): () => void {
  const listeners = SIGNALS.map((signal) => [signal, () => onSignal(signal)] as const);
  for (const [signal, listener] of listeners) source.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) source.off(signal, listener);
  };
}

/**
 * Calls `onPress` with 1 for the first press, 2 for the second, and so on, until the returned function is called. With
 * `reloads`, SIGHUP is no press.
 */
export function listenForStop(
  source: SignalSource,
  clock: Clock,
  onPress: (press: number) => void,
  { reloads = false }: { readonly reloads?: boolean } = {},
): () => void {
  let press = 0;
  let last = -Infinity;
  return listenForSignals(source, (signal) => {
    if (reloads && signal === RELOAD) return;
    const now = clock.now();
    if (now - last < SAME_PRESS_MS) return;
    last = now;
    press += 1;
    onPress(press);
  });
}

/** Listens until the returned function is called. */
export function listenForReload(source: SignalSource, onReload: () => void): () => void {
  source.on(RELOAD, onReload);
  return () => void source.off(RELOAD, onReload);
}

/** The parts of a process that signals need. */
export interface SignalledProcess extends SignalSource {
  readonly pid: number;
  listenerCount(signal: NodeJS.Signals): number;
  kill(pid: number, signal: NodeJS.Signals): unknown;
  exit(): unknown;
}

/**
 * Keeps the exit code of a process that is ending: another press only makes it end sooner. Before that, a signal
 * without another listener has its default effect. Call the returned function when the end begins.
 */
export function keepExitCode(host: SignalledProcess): () => void {
  let isEnding = false;
  const stopListening = listenForSignals(host, (signal) => {
    if (isEnding) host.exit();
    else if (host.listenerCount(signal) === 1) {
      stopListening();
      host.kill(host.pid, signal);
    }
  });
  return () => {
    isEnding = true;
  };
}
