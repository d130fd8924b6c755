/**
 * The servers of a command: from `--add`, and from the given files or else the usual files of the project, the user and
 * other hosts.
 *
 * C1. An unreadable file that was given, a wrong `--add`, or a lack of servers ends the command before anything starts.
 *     If servers may be configured later, an empty configuration is fine. An unreadable file that was only found is
 *     noted.
 * C2. A wrong entry of a file fails that server alone.
 * C3. A server with a reserved name is in no status: it is noted, and if the command has no other server, the command
 *     ends.
 * C4. The troupe reads the same sources again. A server that is missing then is always reported.
 */
import { resolve } from 'node:path';
import { RESERVED_NAME } from '../servers/config-reader.js';
import { createFileTrustStore } from '../trust/trust-store.js';
import { describeProblem, isError } from '../config/entry/problem.js';
import type { SourceReport } from '../config/files/sources.js';
import { discoverServers, type Discovery } from '../servers/discover.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import type { TroupeOptions } from '../options.js';
import type { Troupe } from '../runtime/troupe.js';
import type { Flags } from './arguments/flags.js';
import { UsageError } from './exit.js';

export interface Configuration {
  /** Every configured server, including those with a wrong entry. */
  readonly names: readonly string[];
  readonly disabled: readonly string[];
  /** Entries that may not be as intended. */
  readonly warnings: readonly ConfigProblem[];
  /** The complete result of discovery. */
  readonly discovery: Discovery;
}

export type Sources = Required<Pick<TroupeOptions, 'config' | 'servers' | 'discover'>>;

export interface ReadingOptions {
  /** Whether an empty configuration is accepted. Default false. */
  readonly mayBeEmpty?: boolean;
  /** Whether unreadable files are only reported in `discovery`. Default false. */
  readonly mayBeUnreadable?: boolean;
  /** Whether the files of `--config` are trusted only by their location, as if code named them. Default false. */
  readonly byPlace?: boolean;
}

/** Throws a `UsageError` or a `ConfigError`. */
export async function readConfiguration(
  flags: Flags,
  { mayBeEmpty = false, mayBeUnreadable = false, byPlace = false }: ReadingOptions = {},
): Promise<Configuration> {
  await checkAdded(flags);
  const options = { ...sourcesOf(flags), ...(byPlace && { config: flags.config }) };
  const discovery = await discoverServers({ ...options, trustStore: createFileTrustStore() });
  const { servers, refused, problems, sources } = discovery;
  const unreadable = reasonsOf(sources);
  const given = reasonsOf(sources.filter((source) => isGiven(source, flags)));
  if (given.length > 0 && !mayBeUnreadable) throw new ConfigError(given.join('; '));
  const names = [...servers.map(({ server }) => server), ...refused];
  if (names.length === 0 && !(mayBeEmpty && (mayBeUnreadable || unreadable.length === 0)))
    throw nothingConfigured(
      flags,
      options,
      unreadable,
      problems.filter(({ code }) => code === 'invalid-variable').map(describeProblem),
    );
  const unnamed = problems.filter(({ server }) => server === RESERVED_NAME);
  if (names.length > 0 && names.every((name) => name === RESERVED_NAME)) {
    throw new ConfigError(unnamed.map(describeProblem).join('; '));
  }
  return {
    names,
    disabled: servers.filter(({ enabled }) => !enabled).map(({ server }) => server),
    warnings: problems.filter(
      (problem) => !isError(problem) || problem.server === undefined || unnamed.includes(problem),
    ),
    discovery,
  };
}

/** Waits until the troupe has read the configuration. Throws a `ConfigError` if one of these servers is missing in it. */
export async function requireFound(
  troupe: Pick<Troupe, 'start' | 'connection'>,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { sources } = await troupe.start({ signal });
  const gone = servers.filter((name) => name !== RESERVED_NAME && troupe.connection(name) === undefined);
  if (gone.length === 0) return;
  const what = `${gone.join(', ')}: missing after the configuration was read again`;
  throw new ConfigError([what, ...reasonsOf(sources)].join('; '));
}

/** The servers that are enabled. Throws if all of them are disabled. */
export function requireEnabled({ disabled }: Configuration, servers: readonly string[]): readonly string[] {
  const enabled = servers.filter((name) => !disabled.includes(name));
  if (enabled.length > 0) return enabled;
  throw new ConfigError(`disabled by configuration: ${servers.join(', ')}`);
}

/**
 * The given files and added servers in the form of the API. Without files, discovery is on. A file on the command line is
 * trusted, because the user names it, like a program that they start.
 */
export function sourcesOf({ config, add, discover }: Pick<Flags, 'config' | 'add' | 'discover'>): Sources {
  return {
    config: config.map((path) => ({ path, trust: 'all' as const })),
    servers: Object.fromEntries(add.map((added) => [added.name, added.config])),
    discover: discover ?? config.length === 0,
  };
}

function isGiven({ path }: SourceReport, { config }: Pick<Flags, 'config'>): boolean {
  return config.some((file) => path === resolve(file));
}

/** Why sources cannot be read. */
function reasonsOf(sources: readonly SourceReport[]): readonly string[] {
  return sources.flatMap(({ ok, message }) => (ok ? [] : [message ?? 'a file cannot be read']));
}

async function checkAdded({ add }: Flags): Promise<void> {
  if (add.length === 0) return;
  const { problems } = await discoverServers(sourcesOf({ config: [], add, discover: false }));
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
  ignored: readonly string[],
): UsageError | ConfigError {
  if (config.length > 0) return new ConfigError(`${config.join(', ')}: no servers in it`);
  if (!discover) return new UsageError('no servers: give --config FILE or --add NAME=COMMAND-OR-URL');
  if (unreadable.length > 0) return new ConfigError(unreadable.join('; '));
  const none =
    'no servers found in the files of this project and this user; give --config FILE or --add NAME=COMMAND-OR-URL';
  return new UsageError([none, ...ignored].join('; '));
}
