/**
 * Reads every source, merges what they name and tells what was wrong. Starts nothing and expands nothing.
 *
 * L1. Never rejects: a source that cannot be read is a report and a problem, and the others go on.
 */
import { resolve } from 'node:path';
import type { ConfigProblem } from '../errors.js';
import type { ServerConfig, TroupeOptions } from '../options.js';
import { mergeSources, type MergedServers, type SourceEntries } from './merge.js';
import { describeProblem, isError, printable } from './problem.js';
import { isObject, kindOf } from './read-shape.js';
import {
  baseDirOf,
  readConfigFile,
  readProblem,
  sourceName,
  type ReadText,
  type Source,
  type SourceReport,
} from './sources.js';
import { validateEntry } from './validate-entry.js';

export interface LoadOptions extends Pick<TroupeOptions, 'servers' | 'config'> {
  /** Absolute path that relative file names, and relative paths of the host's own entries, start from. */
  readonly cwd: string;
}

export interface LoadedConfig extends MergedServers {
  /** Everything worth telling, in the order of the sources; `refused` has the errors of single servers again. */
  readonly problems: readonly ConfigProblem[];
  /** Every source that was asked, in order of precedence. */
  readonly sources: readonly SourceReport[];
}

const HOST_SOURCE: Source = { id: 'host', scope: 'host', display: 'the servers option' };

/** The host's own `servers` first, then the given files in their order; the first to name a server wins. */
export async function loadConfig(options: LoadOptions, readText = readConfigFile): Promise<LoadedConfig> {
  const { servers } = options;
  const cwd = resolve(options.cwd);
  const host = servers === undefined ? [] : [readHostEntries(servers, cwd)];
  const files = await Promise.all(
    givenSources(options.config ?? [], cwd).map((source) => readSource(source, cwd, readText)),
  );
  const all = [...host, ...files];
  return {
    ...mergeSources(all),
    problems: all.flatMap(({ problems }) => problems),
    sources: all.map(toReport),
  };
}

/** A file named twice is read once. */
function givenSources(config: string | readonly string[], cwd: string): readonly Source[] {
  const names = typeof config === 'string' ? [config] : config;
  const byPath = new Map<string, Source>();
  for (const display of names) {
    const path = resolve(cwd, display);
    if (!byPath.has(path)) byPath.set(path, { id: path, scope: 'given', display: printable(display), path });
  }
  return [...byPath.values()];
}

function readHostEntries(servers: unknown, cwd: string): SourceEntries {
  const found = { source: HOST_SOURCE, baseDir: cwd };
  const source = sourceName(HOST_SOURCE);
  if (!isObject(servers)) {
    const message = `expected an object with one entry per server, found ${kindOf(servers)}`;
    return { ...found, entries: new Map(), refused: [], problems: [{ source, message }] };
  }
  const entries = new Map<string, ServerConfig>();
  const refused: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const [name, entry] of Object.entries(servers)) {
    const validated = validateEntry(name, entry, { source });
    problems.push(...validated.problems);
    if (validated.config === undefined) refused.push(printable(name));
    else entries.set(name, validated.config);
  }
  return { ...found, entries, refused, problems };
}

/** Reads and parses one source. The parser is loaded with the first text. */
export async function readSource(source: Source, cwd: string, readText: ReadText): Promise<SourceEntries> {
  const found = { source, baseDir: baseDirOf(source, cwd) };
  try {
    const text = source.text ?? (await readText(source.path ?? source.id));
    const { parseConfigText } = await import('./parse-config.js');
    const { entries, refused, problems } = parseConfigText(text, sourceName(source));
    const configs = new Map(entries.map(({ name, config }) => [name, config]));
    return { ...found, entries: configs, refused, problems };
  } catch (error) {
    return { ...found, entries: new Map(), refused: [], problems: [readProblem(source, error)] };
  }
}

function toReport({ source, problems }: SourceEntries): SourceReport {
  const { id, scope, path } = source;
  const failed = problems.find((problem) => isError(problem) && problem.server === undefined);
  return {
    id,
    scope,
    ...(path !== undefined && { path }),
    ok: failed === undefined,
    ...(failed !== undefined && { message: describeProblem(failed) }),
  };
}
