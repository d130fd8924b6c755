/**
 * The servers a command is about: read from the given files and from `--add`, or else those that are found in the usual
 * files of the project, the user and other hosts.
 *
 * C1. An unreadable file that was given, a wrong `--add`, or no server at all ends the command before anything is
 *     started; but where servers may be configured later, there may be none yet. An unreadable file that was only found is
 *     noted.
 * C2. One wrong entry of a file is that server's failure and nobody else's.
 * C3. A server by a name that none can have is in no status: it is noted, and ends a command that is about no other.
 * C4. The troupe reads the same again. What it does not find any more is never passed over in silence.
 */
import { NOBODYS_NAME } from '../config-reading.js';
import { createFileApprovalStore } from '../config/file-approval-store.js';
import { describeProblem, isError } from '../config/problem.js';
import type { SourceReport } from '../config/sources.js';
import { discoverServers, type Discovery } from '../discover.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import type { TroupeOptions } from '../options.js';
import type { Troupe } from '../troupe.js';
import type { Flags } from './flags.js';
import { UsageError } from './usage-error.js';

export interface Configuration {
  /** Every configured server, those with a wrong entry included. */
  readonly names: readonly string[];
  readonly disabled: readonly string[];
  /** What is perhaps not as meant. */
  readonly warnings: readonly ConfigProblem[];
  /** All there is to know. */
  readonly discovery: Discovery;
}

export type Sources = Required<Pick<TroupeOptions, 'config' | 'servers' | 'discover'>>;

/** Throws a `UsageError` or a `ConfigError`; with `mayBeEmpty`, not because there is no server. */
export async function readConfiguration(
  flags: Flags,
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): Promise<Configuration> {
  await checkAdded(flags);
  const options = sourcesOf(flags);
  const discovery = await discoverServers({ ...options, approvals: createFileApprovalStore() });
  const { servers, refused, problems, sources } = discovery;
  const unreadable = reasonsOf(sources);
  if (unreadable.length > 0 && !options.discover) throw new ConfigError(unreadable.join('; '));
  const names = [...servers.map(({ name }) => name), ...refused];
  if (names.length === 0 && !(mayBeEmpty && unreadable.length === 0))
    throw nothingConfigured(flags, options, unreadable);
  const unnamed = problems.filter(({ server }) => server === NOBODYS_NAME);
  if (names.length > 0 && names.every((name) => name === NOBODYS_NAME)) {
    throw new ConfigError(unnamed.map(describeProblem).join('; '));
  }
  return {
    names,
    disabled: servers.filter(({ enabled }) => !enabled).map(({ name }) => name),
    warnings: problems.filter(
      (problem) => !isError(problem) || problem.server === undefined || unnamed.includes(problem),
    ),
    discovery,
  };
}

/**
 * Throws a `ConfigError` where the troupe, which read the configuration again, found one of these servers no more. Waits
 * until it has read it.
 */
export async function requireFound(
  troupe: Pick<Troupe, 'start' | 'connection'>,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { sources } = await troupe.start({ signal });
  const gone = servers.filter((name) => name !== NOBODYS_NAME && troupe.connection(name) === undefined);
  if (gone.length === 0) return;
  const what = `${gone.join(', ')}: gone when the configuration was read again`;
  throw new ConfigError([what, ...reasonsOf(sources)].join('; '));
}

/** Those of the servers that may be started. Throws where their entries disable all of them. */
export function requireEnabled({ disabled }: Configuration, servers: readonly string[]): readonly string[] {
  const enabled = servers.filter((name) => !disabled.includes(name));
  if (enabled.length > 0) return enabled;
  throw new ConfigError(`disabled by configuration: ${servers.join(', ')}`);
}

/** The files and the added servers as the API takes them; without either, whatever is found. */
export function sourcesOf({ config, add }: Pick<Flags, 'config' | 'add'>): Sources {
  return {
    config,
    servers: Object.fromEntries(add.map((added) => [added.name, added.config])),
    discover: config.length === 0 && add.length === 0,
  };
}

/** Why sources cannot be read. */
function reasonsOf(sources: readonly SourceReport[]): readonly string[] {
  return sources.flatMap(({ ok, message }) => (ok ? [] : [message ?? 'a file cannot be read']));
}

async function checkAdded({ add }: Flags): Promise<void> {
  if (add.length === 0) return;
  const { problems } = await discoverServers(sourcesOf({ config: [], add }));
  const errors = problems.filter(isError);
  if (errors.length > 0) throw new UsageError(errors.map(describeAdded).join('; '));
}

function describeAdded({ server = '', field, message }: ConfigProblem): string {
  return `--add ${server}: ${field === undefined ? '' : `field '${field}': `}${message}`;
}

function nothingConfigured(
  { config }: Flags,
  { discover }: Sources,
  unreadable: readonly string[],
): UsageError | ConfigError {
  if (!discover) return new ConfigError(`${config.join(', ')}: names no server`);
  if (unreadable.length > 0) return new ConfigError(unreadable.join('; '));
  return new UsageError(
    "no configuration: nothing was found in this project's files or this user's; give --config FILE or --add NAME=COMMAND-OR-URL",
  );
}
