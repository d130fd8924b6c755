/**
 * The servers a command is about: read from the given files and from `--add`.
 *
 * C1. An unreadable file, a wrong `--add`, or no server at all ends the command before anything is started.
 * C2. One wrong entry of a file is that server's failure and nobody else's.
 */
import { existsSync } from 'node:fs';
import { isError } from '../config/problem.js';
import { discoverServers } from '../discover.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import type { Flags } from './flags.js';
import { UsageError } from './usage-error.js';

export interface Configuration {
  /** Every configured server, those with a wrong entry included. */
  readonly names: readonly string[];
  readonly disabled: readonly string[];
  /** What is perhaps not as meant. */
  readonly warnings: readonly ConfigProblem[];
}

const USUAL_FILE = '.mcp.json';

/** Throws a `UsageError` or a `ConfigError`. */
export async function readConfiguration(flags: Flags): Promise<Configuration> {
  if (flags.config.length === 0 && flags.add.length === 0) throw new UsageError(nothingGiven());
  await checkAdded(flags);
  const { servers, refused, problems, sources } = await discoverServers(sourcesOf(flags));
  const unreadable = sources.flatMap(({ ok, message }) => (ok ? [] : [message ?? 'a file cannot be read']));
  if (unreadable.length > 0) throw new ConfigError(unreadable.join('; '));
  const names = [...servers.map(({ name }) => name), ...refused];
  if (names.length === 0) throw new ConfigError(`${flags.config.join(', ')}: names no server`);
  return {
    names,
    disabled: servers.filter(({ enabled }) => !enabled).map(({ name }) => name),
    warnings: problems.filter((problem) => !isError(problem)),
  };
}

/** Those of the servers that may be started. Throws where their entries disable all of them. */
export function requireEnabled({ disabled }: Configuration, servers: readonly string[]): readonly string[] {
  const enabled = servers.filter((name) => !disabled.includes(name));
  if (enabled.length > 0) return enabled;
  throw new ConfigError(`disabled by configuration: ${servers.join(', ')}`);
}

/** The files and the added servers, as the API takes them. */
export function sourcesOf({ config, add }: Pick<Flags, 'config' | 'add'>) {
  return { config, servers: Object.fromEntries(add.map((added) => [added.name, added.config])) };
}

async function checkAdded({ add }: Flags): Promise<void> {
  const { problems } = await discoverServers(sourcesOf({ config: [], add }));
  const errors = problems.filter(isError);
  if (errors.length > 0) throw new UsageError(errors.map(describeAdded).join('; '));
}

function describeAdded({ server = '', field, message }: ConfigProblem): string {
  return `--add ${server}: ${field === undefined ? '' : `field '${field}': `}${message}`;
}

function nothingGiven(): string {
  const hint = existsSync(USUAL_FILE)
    ? `; to use the ${USUAL_FILE} that is here: --config ${USUAL_FILE}`
    : '';
  return `no configuration: give --config FILE or --add NAME=COMMAND-OR-URL${hint}`;
}
