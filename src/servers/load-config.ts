/**
 * Reads every source, merges their entries and reports what is wrong. Starts nothing and expands nothing. Longer than 300
 * lines because it holds every rule about sources, each in a short function.
 *
 * L1. Never rejects: a source that cannot be read is a report and a problem, and the others go on.
 */
import { dirname, resolve } from 'node:path';
import type { ConfigProblem } from '../errors.js';
import type { TroupeOptions } from '../options.js';
import { folderOfHost, type ConfigFile } from '../config/files/discover-options.js';
import { dropFiltered, type DroppedEntry } from '../config/files/drop-filtered.js';
import { entriesOf, extensionEntries } from '../config/files/host-entries.js';
import { layoutOf, readerOf } from '../config/files/layout.js';
import { mergeSources, restricts, type IsTrusted, type MergedServers } from '../config/merge.js';
import {
  type SourceEntries,
  readConfigFile,
  readProblem,
  requireOwnFolder,
  sourceName,
  type ReadText,
  type Source,
  type SourceReport,
} from '../config/files/sources.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import type { Machine } from '../config/files/known-sources.js';
import type { Viewpoint } from '../config/files/file-discovery.js';
import {
  startFolderOfFile,
  startFolderOfProjectFile,
  startFolderOfUser,
} from '../config/files/start-folder.js';
import { homeFolder } from '../storage/folders.js';
import { codeWords } from '../config/entry/code-arguments.js';
import { describeProblem, isError, printable } from '../config/entry/problem.js';
import { isAbsence } from '../storage/stored-file.js';
import type { ContentsContext } from '../trust/contents.js';
import { isTrustedBy } from '../trust/trust-rules.js';

export interface LoadOptions extends Pick<
  TroupeOptions,
  'servers' | 'config' | 'discover' | 'trust' | 'env'
> {
  /** Absolute path that relative file names start from. */
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
  /** Why files that the host named could not be read. An optional one need not exist. */
  readonly missing: readonly ConfigProblem[];
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
  const choice = discover === true ? {} : discover || undefined;
  const project = folderOfHost(discover, cwd);
  const home = options.machine === undefined ? homeFolder() : options.machine.home;
  const start = startFolderOfUser(home, project);
  const host = [
    ...(servers === undefined ? [] : [entriesOf(HOST_SOURCE, servers, start)]),
    ...(added === undefined ? [] : [entriesOf(ADDED_SOURCE, added, start)]),
  ];
  const given = await givenSources(options.config ?? [], { ...options, cwd, project }, start);
  const [files, found] = await Promise.all([
    readSources(given, start, readText),
    choice === undefined
      ? NOTHING
      : discovered({ ...choice, cwd: project }, given, start, { ...options, readText }),
  ]);
  const { kept, dropped } = dropFiltered(found.entries, choice?.filter);
  const limited = withoutTurnedOff(withinLimit([...host, ...files, ...kept]));
  const all =
    options.trust === 'contents' ? await withContents(limited, options.env ?? process.env, home) : limited;
  const isTrusted: IsTrusted = (spec) =>
    isTrustedBy(options.trust, spec) || options.isTrusted?.(spec) === true;
  const merged = mergeSources(all, isTrusted);
  return {
    ...merged,
    problems: [
      ...found.problems,
      ...all.flatMap(({ problems }) => problems),
      ...heldBackProblems(merged),
      ...startProblems(merged),
    ],
    sources: all.map(toReport),
    missing: files.flatMap(({ isUnread, problems }) => (isUnread === true ? problems : [])),
    dropped,
  };
}

/** A file named twice is read once. */
async function givenSources(
  config: NonNullable<TroupeOptions['config']>,
  { cwd, project, machine }: Pick<LoadOptions, 'cwd' | 'machine'> & { readonly project: string },
  userStart: string,
): Promise<readonly Source[]> {
  const byPath = new Map<string, ConfigFile>();
  for (const file of [config].flat()) {
    const named = typeof file === 'string' ? { path: file } : file;
    const path = resolve(cwd, named.path);
    if (!byPath.has(path)) byPath.set(path, named);
  }
  return Promise.all(
    [...byPath].map(async ([path, { path: display, scope: named, trust, optional }]) => {
      const needsTrust =
        trust !== 'all' && (named ?? (await placeOf(path, { cwd: project, machine }))) === 'project';
      return {
        id: path,
        isOptional: optional === true,
        scope: needsTrust ? ('project' as const) : ('given' as const),
        display: printable(display),
        path,
        // Trust does not change paths: they start from the file's folder only if `scope` says `project`.
        baseDir: await (named === 'project'
          ? startFolderOfProjectFile(path, userStart)
          : startFolderOfFile(path, cwd, userStart)),
      };
    }),
  );
}

async function placeOf(path: string, from: Viewpoint): Promise<'project' | 'given'> {
  const { isInProject } = await import('../config/files/file-discovery.js');
  return (await isInProject(path, from)) ? 'project' : 'given';
}

interface Discovered {
  readonly entries: readonly SourceEntries[];
  readonly problems: readonly ConfigProblem[];
}

const NOTHING: Discovered = { entries: [], problems: [] };

/** The known files that exist, without the given ones, and the entries of extensions. */
async function discovered(
  { cwd, project, user, extensions = {} }: Choice,
  given: readonly Source[],
  userStart: string,
  { machine, readText }: Pick<LoadOptions, 'machine'> & { readonly readText: ReadText },
): Promise<Discovered> {
  const { findSources } = await import('../config/files/file-discovery.js');
  const { sources, ignored } = await findSources({ cwd, project, user }, machine);
  const isNew = ({ path }: Source): boolean => given.every((other) => other.path !== path);
  const files = await readSources(sources.filter(isNew), userStart, readText);
  return {
    entries: [...files, ...extensionEntries(extensions, userStart)],
    problems: ignored.map((variable) => ({
      code: 'invalid-variable',
      severity: 'warning',
      source: variable,
      message: 'is ignored, because it is not an absolute path',
    })),
  };
}

type Choice = Omit<Exclude<NonNullable<TroupeOptions['discover']>, boolean>, 'cwd'> & {
  readonly cwd: string;
};

/** Reads all sources at once. A file that was only looked for, or is optional, and does not exist is not a source. */
async function readSources(
  sources: readonly Source[],
  userStart: string,
  readText: ReadText,
): Promise<readonly SourceEntries[]> {
  const read = await Promise.all(sources.map((source) => readSource(source, userStart, readText)));
  return read.flatMap((entries) => entries ?? []);
}

/**
 * Reads and parses one source. Undefined if it was only looked for, or is optional, and names no server: the file does not
 * exist, or is a file of settings without servers. The parser is loaded with the first text.
 */
export async function readSource(
  source: Source,
  userStart: string,
  readText: ReadText,
): Promise<SourceEntries | undefined> {
  const found = { source, baseDir: source.baseDir ?? userStart };
  try {
    const path = source.path ?? source.id;
    const isPointedAt = source.scope === 'given';
    const text = source.text ?? (await readText(path, isPointedAt));
    if (source.scope === 'project') await requireOwnFolder(path);
    const layout = source.layout ?? layoutOf(path);
    const [{ parseConfigText }, readTree] = await Promise.all([
      import('../config/files/parse-config.js'),
      readerOf(layout.syntax),
    ]);
    const parsed = parseConfigText(
      text,
      sourceName(source),
      layout,
      readTree,
      source.scope === 'project' ? MAX_OF_PROJECT : Infinity,
    );
    const { entries, refused, inputs, turnedOff, surplus } = parsed;
    // An empty list is worth a warning only if someone named the file.
    const isWorthIt = ({ code, severity }: ConfigProblem): boolean =>
      source.kind === undefined || code !== 'no-servers' || severity !== 'warning';
    const problems = parsed.problems.filter(isWorthIt);
    const isNothing = [entries, refused, problems, turnedOff].every(({ length }) => length === 0);
    if (isNothing && layout.isSettings === true) return undefined;
    const configs = new Map(entries.map(({ name, config }) => [name, config]));
    return { ...found, entries: configs, refused, problems, inputs, turnedOff, surplus };
  } catch (error) {
    const mayBeAbsent = source.kind !== undefined || source.isOptional === true;
    if (mayBeAbsent && isAbsence(error)) return undefined;
    const problems = [readProblem(source, error)];
    return { ...found, entries: new Map(), refused: [], problems, isUnread: true };
  }
}

/** Entries in the files of a project. Nobody has that many servers, and each is asked about. */
const MAX_OF_PROJECT = 256;

/** Leaves out the entries of the project above the limit, in the order of the files. */
function withinLimit(sources: readonly SourceEntries[]): readonly SourceEntries[] {
  const kept: SourceEntries[] = [];
  let left = MAX_OF_PROJECT;
  for (const from of sources) {
    if (from.source.scope !== 'project') {
      kept.push(from);
      continue;
    }
    const entries = new Map([...from.entries].slice(0, left));
    left -= entries.size;
    kept.push(withoutSurplus(from, entries));
  }
  return kept;
}

function withoutSurplus(from: SourceEntries, entries: SourceEntries['entries']): SourceEntries {
  const surplus = from.entries.size - entries.size + (from.surplus ?? 0);
  if (surplus === 0) return from;
  const message = `${surplus} of its servers are left out: the files of a project can have ${MAX_OF_PROJECT}`;
  const source = sourceName(from.source);
  const problem = { code: 'too-many-servers', severity: 'warning', source, message } as const;
  return { ...from, entries, problems: [...from.problems, problem] };
}

/** The entries of the project with the contents of the files that they run. */
async function withContents(
  sources: readonly SourceEntries[],
  env: ContentsContext['env'],
  home: string | undefined,
): Promise<readonly SourceEntries[]> {
  const { contentsOf } = await import('../trust/contents.js');
  return Promise.all(
    sources.map(async (from) => {
      if (from.source.scope !== 'project') return from;
      const { baseDir, source } = from;
      const fileDir = dirname(source.path ?? source.id);
      const contents = await Promise.all(
        [...from.entries].map(
          async ([name, config]) =>
            [name, await contentsOf({ name, baseDir, fileDir, config }, { env, home })] as const,
        ),
      );
      return { ...from, contents: new Map(contents) };
    }),
  );
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
        code: 'disabled-by-settings',
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

/** Warnings for entries of the project that do not count, because nobody has trusted them. */
function heldBackProblems({ heldBack, uncounted, servers }: MergedServers): readonly ConfigProblem[] {
  const used = new Map(servers.map((spec) => [spec.name, spec]));
  const fingerprint = (spec: ServerSpec): string => spec.ownHash ?? spec.hash;
  const warn = (spec: ServerSpec, message: string): ConfigProblem => ({
    code: 'untrusted-entry',
    severity: 'warning',
    source: spec.source,
    server: printable(spec.name),
    message,
  });
  return [
    ...heldBack.flatMap((spec) => {
      const instead = used.get(spec.name);
      if (instead === undefined || instead.config.enabled === false) return [];
      if (fingerprint(instead) === fingerprint(spec)) return [];
      const uses = `is not trusted, so the entry of ${instead.source} is used`;
      return [warn(spec, restricts(spec.config) ? `${uses}, without the restrictions of this one` : uses)];
    }),
    ...uncounted.map((spec) => warn(spec, "is not trusted, so its 'enabled' and 'tools' do not count")),
  ];
}

/** Warnings for entries of the user whose arguments name the folder that they start in: it is no longer the working folder. */
function startProblems({ servers }: MergedServers): readonly ConfigProblem[] {
  return servers.flatMap(({ name, source, scope, config }) => {
    if (scope !== 'user' || !('command' in config) || config.cwd !== undefined) return [];
    const { command, args = [] } = config;
    const code = codeWords([command, ...args]);
    return args.flatMap((arg, index): readonly ConfigProblem[] => {
      if (code.has(index + 1) || !OF_START_FOLDER.test(arg)) return [];
      const message =
        'is relative to the home folder, in which entries of the user start; write "${workspaceFolder}" for the working folder, or set \'cwd\'';
      const place = { source, server: printable(name), field: `args[${index}]` };
      return [{ code: 'relative-to-home', severity: 'warning', ...place, message }];
    });
  });
}

const OF_START_FOLDER = /^\.{1,2}(?:[/\\]|$)/;

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
