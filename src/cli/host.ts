/** Where a command line runs: in a process of its own, or in one whose servers run already. */
import type { Troupe } from '../runtime/troupe.js';
import type { Flags } from './arguments/flags.js';
import type { ExitCode } from './exit.js';
import type { Streams } from './output/terminal.js';
import type { followToolChanges } from './output/tool-changes.js';

/** The parts of a process that the command line needs. */
export interface Host extends Streams, CommandInput {}

/** Runs one command line; `args` are the words after the name of the program. */
export type Run = (args: readonly string[], host: Host) => Promise<ExitCode>;

/** What a command has besides its flags. */
export interface CommandInput {
  readonly stdin: NodeJS.ReadableStream;
  /** Default: the command starts the servers that it needs. */
  readonly running?: RunningTroupe | undefined;
}

/** A troupe that runs already. */
export interface RunningTroupe {
  readonly troupe: Troupe;
  /** Interrupts the command, and nothing else. */
  readonly signal: AbortSignal;
  /** Aborted when the troupe is about to end: for commands that would go on for ever. */
  readonly ending: AbortSignal;
  /** Which tools differ from what was accepted. */
  readonly toolChanges: ReturnType<typeof followToolChanges>;
  /**
   * Reads the configuration again. Rejects with `Declined` if a troupe that the command would start, with these flags, could
   * have other servers.
   */
  readonly prepare: (flags: Flags) => Promise<void>;
  /** Throws `Declined` if one of these servers would have to ask a person something. */
  readonly admit: (servers: readonly string[]) => void;
}

/** The command must run elsewhere; nothing has happened. The message is the reason. */
export class Declined extends Error {
  override readonly name = 'Declined';
}
