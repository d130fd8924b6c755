/** Makes the troupe that the flags ask for, with the servers a command needs. Starts nothing. */
import type { AuthOptions } from '../auth/auth-options.js';
import { createFileApprovalStore } from '../config/file-approval-store.js';
import type { RecordTarget } from '../event-log/record-options.js';
import type { ReviewMode, ServerConfig, TroupeOptions } from '../options.js';
import { TIMEOUT_VARIABLE } from '../policy.js';
import { createFileReviewStore } from '../review/file-review-store.js';
import { createTroupe, type Troupe } from '../troupe.js';
import { sourcesOf, type Configuration } from './configuration.js';
import type { Flags } from './flags.js';
import { toDetail } from './plain-lines.js';
import { noteStoreProblems } from './store-problems.js';
import type { Terminal } from './terminal.js';

export interface TroupeChoice {
  /** Attempts for each server whose entry does not say otherwise. Default: the policy's. */
  readonly maxAttempts?: number;
  /** The servers that are needed. Default: all. */
  readonly only?: readonly string[];
  /** Whether changes of the files are obeyed. Default: not. */
  readonly watch?: boolean;
  /** Default: what is signed in to is used, and nobody is asked to sign in. */
  readonly auth?: AuthOptions;
  /** What becomes of tools that are other than approved. Default: they are reported. */
  readonly review?: ReviewMode;
  /** Default: nobody is there to ask. */
  readonly askInput?: TroupeOptions['askInput'];
  /** Default: nothing is recorded. */
  readonly record?: RecordTarget | undefined;
}

/** Notes what its stores could not do; with `--verbose`, every detail of what happens to it. */
export function makeTroupe(
  flags: Flags,
  configuration: Pick<Configuration, 'names'>,
  terminal: Terminal,
  choice: TroupeChoice = {},
): Troupe {
  const troupe = createTroupe(toTroupeOptions(flags, configuration, choice));
  if (flags.verbose) noteDetails(troupe, terminal);
  else noteStoreProblems(troupe, terminal);
  return troupe;
}

/** What the flags and the choice come to. */
export function toTroupeOptions(
  flags: Flags,
  { names }: Pick<Configuration, 'names'>,
  choice: TroupeChoice = {},
): Omit<TroupeOptions, 'handlers' | 'capabilities'> {
  const { maxAttempts, only = names, watch = false, auth = { interactive: false } } = choice;
  const { askInput, record, review: mode = 'report' } = choice;
  const { config, servers, discover } = sourcesOf(flags);
  const { timeout } = flags;
  const unneeded = names.filter((name) => !only.includes(name));
  return {
    config,
    discover,
    servers: { ...servers, ...takenOut(unneeded) },
    watch,
    approvals: createFileApprovalStore(),
    review: { mode, store: createFileReviewStore() },
    auth,
    ...(askInput === undefined ? {} : { askInput }),
    ...(record === undefined ? {} : { record }),
    ...(timeout === undefined ? {} : { env: { ...process.env, [TIMEOUT_VARIABLE]: String(timeout) } }),
    ...(maxAttempts === undefined ? {} : { policy: { maxAttempts } }),
  };
}

/** What the host names wins over every file, so a disabled entry of the same name takes a server out. */
function takenOut(names: readonly string[]): Record<string, ServerConfig> {
  return Object.fromEntries(names.map((name) => [name, { command: 'none', enabled: false }]));
}

function noteDetails({ events$ }: Troupe, terminal: Terminal): void {
  events$.subscribe((event) => {
    const detail = toDetail(event);
    if (detail !== undefined) terminal.note(terminal.noteColors.dim(detail));
  });
}
