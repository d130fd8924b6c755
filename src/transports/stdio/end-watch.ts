/**
 * Decides when a session that was not closed by us is over, and why.
 *
 * The end of a process shows itself in up to three ways, in any order: it exits, its stdout ends, its stdin breaks.
 * The exit is the best cause, so the other two wait a moment for it; and a process that has exited is given the time
 * to be read to the end. Tells once.
 */
import type { ProcessExit } from '../../../machines/policy/failure.js';
import type { Clock } from '../../ports.js';
import { afterPendingReads } from './pending-reads.js';

export type EndCause =
  | { readonly kind: 'exited'; readonly exit: ProcessExit }
  | { readonly kind: 'stdout-closed' }
  | { readonly kind: 'stdin-broken' };

/** How long a closed pipe waits for the exit that mostly follows. */
const EXIT_GRACE_MS = 250;

export class EndWatch {
  readonly #clock: Clock;
  readonly #onEnd: (cause: EndCause) => void;
  #cause: EndCause | undefined;
  #cancelWait = (): void => {};
  #over = false;

  /** @param onEnd Must not throw. */
  constructor(clock: Clock, onEnd: (cause: EndCause) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  exited(exit: ProcessExit): void {
    this.#await({ kind: 'exited', exit }, (done) => afterPendingReads(done));
  }

  pipeClosed(kind: 'stdout-closed' | 'stdin-broken'): void {
    if (this.#cause !== undefined) return;
    this.#await({ kind }, (done) => {
      const timer = this.#clock.setTimeout(done, EXIT_GRACE_MS);
      return () => this.#clock.clearTimeout(timer);
    });
  }

  /** From here on the end is ours. An exit that has been seen but not told yet is told now. */
  stop(): void {
    if (this.#cause?.kind === 'exited') this.#tell();
    this.#cancelWait();
    this.#over = true;
  }

  #await(cause: EndCause, wait: (done: () => void) => () => void): void {
    if (this.#over) return;
    this.#cancelWait();
    this.#cause = cause;
    this.#cancelWait = wait(() => this.#tell());
  }

  #tell(): void {
    if (this.#over || this.#cause === undefined) return;
    this.#over = true;
    this.#onEnd(this.#cause);
  }
}
