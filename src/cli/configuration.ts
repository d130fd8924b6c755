/**
 * The servers a command is about: read from the given files and from `--add`.
 *
 * C1. An unreadable file, a wrong `--add`, or no server at all ends the command before anything is started.
 * C2. One wrong entry of a file is that server's failure and nobody else's.
 */
import { existsSync } from 'node:fs';
import process from 'node:process';
import { isError } from '../config/problem.js';
import { discoverServers } from '../discover.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import type { ServerConfig, TroupeOptions } from '../options.js';
import { TIMEOUT_VARIABLE } from '../policy.js';
import type { Flags } from './flags.js';
import { UsageError } from './usage-error.js';

export interface Configuration {
  /** Every configured server, those with a wrong entry included. */
  readonly names: readonly string[];
  readonly disabled: readonly string[];
  /** What is perhaps not as meant. */
  readonly warnings: readonly ConfigProblem[];
}

export interface TroupeChoice {
  /** Default: as the configuration says. */
  readonly maxAttempts?: number;
  /** The servers that are needed. Default: all. */
  readonly only?: readonly string[];
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

export function toTroupeOptions(
  flags: Flags,
  { names }: Configuration,
  { maxAttempts, only = names }: TroupeChoice = {},
): TroupeOptions {
  const { config, servers } = sourcesOf(flags);
  const { timeout } = flags;
  const unneeded = names.filter((name) => !only.includes(name));
  return {
    config,
    servers: { ...servers, ...takenOut(unneeded) },
    ...(timeout === undefined ? {} : { env: { ...process.env, [TIMEOUT_VARIABLE]: String(timeout) } }),
    ...(maxAttempts === undefined ? {} : { policy: { maxAttempts } }),
  };
}

/** What the host names wins over every file, so a disabled entry of the same name takes a server out. */
function takenOut(names: readonly string[]): Record<string, ServerConfig> {
  return Object.fromEntries(names.map((name) => [name, { command: 'none', enabled: false }]));
}

function sourcesOf({ config, add }: Pick<Flags, 'config' | 'add'>) {
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
