/**
 * Decides when a session that Troupe did not close is over, and why.
 *
 * The end of a process shows in up to three ways, in any order: it exits, its stdout ends, its stdin breaks. The exit is
 * the best cause, so the other two wait a moment for it. After an exit, the output is read to its end first. Reports once.
 */
import type { ProcessExit } from '../../../machines/policy/failure.js';
import type { Clock } from '../../ports.js';
import type { RawFailure } from '../../failures/transport-error.js';
import { reportsError, causeHint, outputOf, quoted } from '../../failures/output.js';

export type EndCause =
  | { readonly kind: 'exited'; readonly exit: ProcessExit }
  | { readonly kind: 'stdout-closed' }
  | { readonly kind: 'stdin-broken' }
  | { readonly kind: 'endless-line'; readonly excess: string };

/** How long a closed pipe waits for the exit that usually follows. */
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

  /** Nothing more can be read: a line without an end exceeds a limit, `excess` says which. */
  unreadable(excess: string): void {
    if (this.#cause !== undefined) return;
    this.#await({ kind: 'endless-line', excess }, (done) => afterPendingReads(done));
  }

  /** From now on Troupe ends the session. An exit that was seen but not reported yet is reported now. */
  stop(): void {
    if (this.#cause?.kind === 'exited') this.#emit();
    this.#cancelWait();
    this.#over = true;
  }

  #await(cause: EndCause, wait: (done: () => void) => () => void): void {
    if (this.#over) return;
    this.#cancelWait();
    this.#cause = cause;
    this.#cancelWait = wait(() => this.#emit());
  }

  #emit(): void {
    if (this.#over || this.#cause === undefined) return;
    this.#over = true;
    this.#onEnd(this.#cause);
  }
}

const TURNS = 2;

/**
 * Calls `fn` when what was already in the kernel's pipes has been read; the returned function cancels that.
 *
 * The output of a process is in the pipe by the time its end is reported, and has been read a whole turn of the event
 * loop later (a socket buffer is smaller than what one turn reads). So this waits for the last output of a process
 * without a timer and without a guess, and a grandchild that goes on writing cannot prolong it.
 */
export function afterPendingReads(fn: () => void): () => void {
  let turns = 0;
  const turn = (): void => {
    if (turns === TURNS) return fn();
    turns += 1;
    handle = setImmediate(turn);
  };
  let handle = setImmediate(turn);
  return () => clearImmediate(handle);
}

/** Signals that come from outside. The output of the program says nothing about them. */
const FROM_OUTSIDE: Readonly<Record<string, string>> = {
  SIGKILL: 'Something killed it from outside, often because memory ran out.',
  SIGTERM: 'Something ended it from outside.',
};

/**
 * The cause of an end as a failure. Pure.
 *
 * @param stdout - The lines there, if the server has sent no message.
 */
export function endFailure(
  cause: EndCause,
  stderr: readonly string[],
  stdout: readonly string[] = [],
): RawFailure {
  const hint =
    cause.kind === 'exited' && cause.exit.signal !== null
      ? killedHint(cause.exit.signal, stderr)
      : causeHint(stderr, stdout);
  return {
    ...described(cause),
    ...(hint === undefined ? {} : { hint }),
    ...outputOf(stderr, stdout),
  };
}

function killedHint(signal: string, stderr: readonly string[]): string | undefined {
  const line = stderr.findLast(reportsError);
  return FROM_OUTSIDE[signal] ?? (line === undefined ? undefined : quoted(line, stderr, 'stderr'));
}

function described(cause: EndCause): RawFailure {
  switch (cause.kind) {
    case 'exited':
      return { code: 'process-exited', message: `The server ${howItEnded(cause.exit)}.`, exit: cause.exit };
    case 'stdout-closed':
      return { code: 'stdout-closed', message: 'The server closed its stdout but is still running.' };
    case 'stdin-broken':
      return { code: 'connection-lost', message: 'The server closed its stdin but is still running.' };
    case 'endless-line':
      return {
        code: 'message-too-large',
        message: `The server wrote a line to its stdout that ${cause.excess} and has not ended.`,
      };
  }
}

function howItEnded({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${codeInWords(code)}` : `was killed by ${signal}`;
}

/** Codes with the highest bit set come from Windows itself (NTSTATUS). They are known by their hexadecimal form. */
function codeInWords(code: number | null): string {
  return code !== null && code >= 2 ** 31 ? `0x${code.toString(16).toUpperCase()}` : String(code);
}
