/**
 * Reads every source, merges their entries and reports what is wrong. Starts nothing and expands nothing.
 *
 * L1. Never rejects: a source that cannot be read is a report and a problem, and the others go on.
 */
import { dirname, resolve } from 'node:path';
import type { ConfigProblem } from '../errors.js';
import type { TroupeOptions } from '../options.js';
import type { ConfigFile } from '../config/files/discover-options.js';
import { dropFiltered, type DroppedEntry } from '../config/files/drop-filtered.js';
import { entriesOf, extensionEntries } from '../config/files/host-entries.js';
import { layoutOf, readerOf } from '../config/files/layout.js';
import { mergeSources, type IsTrusted, type MergedServers } from '../config/merge.js';
import {
  type SourceEntries,
  baseDirOf,
  readConfigFile,
  readProblem,
  sourceName,
  type ReadText,
  type Source,
  type SourceReport,
} from '../config/files/sources.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import type { Machine } from '../config/files/places.js';
import { describeProblem, isError, printable } from '../config/entry/problem.js';
import { isAbsence } from '../storage/stored-file.js';
import { isTrustedBy } from '../trust/trust-rules.js';

export interface LoadOptions extends Pick<TroupeOptions, 'servers' | 'config' | 'discover' | 'trust'> {
  /** Absolute path that relative file names, and relative paths of the host's own entries, start from. */
  readonly cwd: string;
  /** Entries that the host added by hand, by name. Default: none. */
  readonly added?: TroupeOptions['servers'];
  /** Which entries of project files are trusted, beside those that `trust` lets run without asking. Default: none. */
  readonly isTrusted?: IsTrusted;
  /** Where the known files are looked for. Default: this machine. */
  readonly machine?: Machine;
}

export interface LoadedConfig extends MergedServers {
  /** Every problem, in the order of the sources; `refused` repeats the errors of single servers. */
  readonly problems: readonly ConfigProblem[];
  /** Every source that was read, in order of precedence. */
  readonly sources: readonly SourceReport[];
  /** What the filter of the discovery left out. */
  readonly dropped: readonly DroppedEntry[];
}

const HOST_SOURCE: Source = { id: 'host', scope: 'host', display: 'the servers option' };
const ADDED_SOURCE: Source = { id: 'added', scope: 'host', display: 'add()' };

/**
 * Order of precedence: the host's own `servers`, the servers that it added, the given files in their order, then the
 * discovered sources: files of the project, files of the user, and extensions. The first source that names a server wins;
 * `merge.ts` has the exceptions for projects.
 */
export async function loadConfig(options: LoadOptions, readText = readConfigFile): Promise<LoadedConfig> {
  const { servers, added, discover } = options;
  const cwd = resolve(options.cwd);
  const host = [
    ...(servers === undefined ? [] : [entriesOf(HOST_SOURCE, servers, cwd)]),
    ...(added === undefined ? [] : [entriesOf(ADDED_SOURCE, added, cwd)]),
  ];
  const given = await givenSources(options.config ?? [], cwd, options.machine);
  const choice = discover === true ? {} : discover || undefined;
  const [files, found] = await Promise.all([
    readSources(given, cwd, readText),
    choice === undefined ? [] : discovered(choice, given, { ...options, cwd }, readText),
  ]);
  const { kept, dropped } = dropFiltered(found, choice?.filter);
  const all = withoutTurnedOff([...host, ...files, ...kept]);
  const isTrusted: IsTrusted = (spec) =>
    isTrustedBy(options.trust, spec) || options.isTrusted?.(spec) === true;
  const merged = mergeSources(all, isTrusted);
  return {
    ...merged,
    problems: [...all.flatMap(({ problems }) => problems), ...heldBackProblems(merged)],
    sources: all.map(toReport),
    dropped,
  };
}

/** A file named twice is read once. */
async function givenSources(
  config: NonNullable<TroupeOptions['config']>,
  cwd: string,
  machine: Machine | undefined,
): Promise<readonly Source[]> {
  const byPath = new Map<string, ConfigFile>();
  for (const file of [config].flat()) {
    const named = typeof file === 'string' ? { path: file } : file;
    const path = resolve(cwd, named.path);
    if (!byPath.has(path)) byPath.set(path, named);
  }
  return Promise.all(
    [...byPath].map(async ([path, { path: display, scope: named, trust }]) => {
      const needsTrust = trust !== 'all' && (named ?? (await placeOf(path, machine))) === 'project';
      return {
        id: path,
        scope: needsTrust ? ('project' as const) : ('given' as const),
        display: printable(display),
        path,
        // Trust does not change paths: they start from the file's folder only if `scope` says `project`.
        baseDir: named === 'project' ? dirname(path) : cwd,
      };
    }),
  );
}

async function placeOf(path: string, machine: Machine | undefined): Promise<'project' | 'given'> {
  const { isInProject } = await import('../config/files/file-discovery.js');
  return (await isInProject(path, machine)) ? 'project' : 'given';
}

type Choice = Exclude<NonNullable<TroupeOptions['discover']>, boolean>;

/** The known files that exist, without the given ones, and the entries of extensions. */
async function discovered(
  { cwd: start, project = true, user = true, extensions = {} }: Choice,
  given: readonly Source[],
  { cwd, machine }: LoadOptions,
  readText: ReadText,
): Promise<readonly SourceEntries[]> {
  const { findSources } = await import('../config/files/file-discovery.js');
  const { sources } = await findSources({ cwd: resolve(cwd, start ?? '.'), project, user }, machine);
  const isNew = ({ path }: Source): boolean => given.every((other) => other.path !== path);
  const files = await readSources(sources.filter(isNew), cwd, readText);
  return [...files, ...extensionEntries(extensions, cwd)];
}

/** Reads all sources at once. A file that was only looked for and does not exist is not a source. */
async function readSources(
  sources: readonly Source[],
  cwd: string,
  readText: ReadText,
): Promise<readonly SourceEntries[]> {
  const read = await Promise.all(sources.map((source) => readSource(source, cwd, readText)));
  return read.flatMap((entries) => entries ?? []);
}

/**
 * Reads and parses one source. Undefined if it was only looked for and names no server: the file does not exist, or is a
 * file of settings without servers. The parser is loaded with the first text.
 */
export async function readSource(
  source: Source,
  cwd: string,
  readText: ReadText,
): Promise<SourceEntries | undefined> {
  const found = { source, baseDir: baseDirOf(source, cwd) };
  try {
    const path = source.path ?? source.id;
    const isPointedAt = source.scope === 'given';
    const text = source.text ?? (await readText(path, isPointedAt));
    const layout = source.layout ?? layoutOf(path);
    const [{ parseConfigText }, readTree] = await Promise.all([
      import('../config/files/parse-config.js'),
      readerOf(layout.syntax),
    ]);
    const { entries, refused, problems, inputs, turnedOff } = parseConfigText(
      text,
      sourceName(source),
      layout,
      readTree,
    );
    const isNothing = [entries, refused, problems, turnedOff].every(({ length }) => length === 0);
    if (isNothing && layout.isSettings === true) return undefined;
    const configs = new Map(entries.map(({ name, config }) => [name, config]));
    return { ...found, entries: configs, refused, problems, inputs, turnedOff };
  } catch (error) {
    if (source.kind !== undefined && isAbsence(error)) return undefined;
    return { ...found, entries: new Map(), refused: [], problems: [readProblem(source, error)] };
  }
}

/** The kind of the project's file whose servers other files can disable. */
const PROJECT_FILE = 'mcp.json';

/** Disables the servers of the project's file that the settings of Claude Code name. */
function withoutTurnedOff(sources: readonly SourceEntries[]): readonly SourceEntries[] {
  const disabledBy = new Map(
    sources.flatMap(({ source, turnedOff = [] }) => turnedOff.map((name) => [name, sourceName(source)])),
  );
  if (disabledBy.size === 0) return sources;
  return sources.map((from) => {
    if (from.source.kind !== PROJECT_FILE) return from;
    const problems = [...from.problems];
    const entries = [...from.entries].map(([name, config]): readonly [string, ServerConfig] => {
      const settings = disabledBy.get(name);
      if (settings === undefined || config.enabled === false) return [name, config];
      const message = `is disabled by 'disabledMcpjsonServers' of ${settings}`;
      problems.push({
        severity: 'warning',
        source: sourceName(from.source),
        server: printable(name),
        message,
      });
      return [name, { ...config, enabled: false }];
    });
    return { ...from, entries: new Map(entries), problems };
  });
}

/** Warnings for servers of which another entry is used, because the entry of the project is not trusted. */
function heldBackProblems({ heldBack, servers }: MergedServers): readonly ConfigProblem[] {
  const used = new Map(servers.map((spec) => [spec.name, spec]));
  const fingerprint = (spec: ServerSpec): string => spec.ownHash ?? spec.hash;
  return heldBack.flatMap((spec) => {
    const instead = used.get(spec.name);
    if (instead === undefined || instead.config.enabled === false) return [];
    if (fingerprint(instead) === fingerprint(spec)) return [];
    const message = `is not trusted, so the entry of ${instead.source} is used`;
    return [{ severity: 'warning', source: spec.source, server: printable(spec.name), message } as const];
  });
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
