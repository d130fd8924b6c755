/**
 * Runs one piece of work on a troupe and cleans up, however the work ends.
 *
 * W1. The first Ctrl-C aborts the work's signal, the second one kills what is still closing.
 * W2. The troupe is closed before the returned promise settles.
 * W3. The process lives as long as the work, even if no server keeps it alive.
 */
import { systemClock } from '../ports.js';
import type { Troupe } from '../runtime/troupe.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { MAX_TIMER_MS } from './arguments/flags.js';
import { listenForStop } from './signals.js';
import type { Terminal } from './output/terminal.js';

/** Returns `EXIT.failed` if the work throws because it was interrupted. Passes every other error on to the caller. */
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
  const signal = AbortSignal.any([interruption.signal, terminal.gone]);
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    if (interruption.signal.aborted) terminal.note('troupe: interrupted');
    return EXIT.failed;
  } finally {
    await troupe.close();
    clearInterval(life);
    stopListening();
  }
}
