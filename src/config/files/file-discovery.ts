/**
 * Which of the known files to read on this machine, in order of precedence. Does not read them: whether a file exists
 * shows when it is read.
 */
import {
  KNOWN_SOURCES,
  type FileLocation,
  type KnownSource,
  baseFolder,
  folderIn,
  ignoredVariables,
  pathsOf,
  thisMachine,
  type Machine,
} from './known-sources.js';
import { printable } from '../entry/problem.js';
import type { Source } from './sources.js';
import type { Scope } from '../entry/server-spec.js';
import { findProjects, insideOf, isBelow, leadsOut, projectFolders, realOf } from './project-root.js';
import { dirname, resolve } from 'node:path';

export interface Search {
  /** Folder in which the search for the project starts. */
  readonly cwd: string;
  readonly project?: boolean | undefined;
  readonly user?: boolean | undefined;
}

export interface FoundFiles {
  readonly sources: readonly Source[];
  /** The project's folder. */
  readonly root: string | undefined;
  /** Variables that should name a folder of the user, and are ignored because their path is relative. */
  readonly ignored: readonly string[];
}

/** A folder with one of these is a project. */
const MARKS = [
  ...KNOWN_SOURCES.filter(isOfProject).flatMap(({ files }) => files.map(({ path }) => path)),
  '.git',
];

const FOLDER_VARIABLES: readonly string[] = [
  ...new Set([
    'HOME',
    'XDG_CONFIG_HOME',
    ...KNOWN_SOURCES.flatMap(({ files }) => files.flatMap(({ moved }) => moved?.[0] ?? [])),
  ]),
];

/**
 * The sources to read. A file of the user that lies inside the project, or in one around it, is the project's, whatever
 * variable led to it.
 * `machine` is this one, unless a test passes another.
 */
export async function findSources(
  { cwd, project = true, user = true }: Search,
  machine?: Machine,
): Promise<FoundFiles> {
  const on = machine ?? (await thisMachine(process.env));
  const { root, folders } = await projectOf(cwd, on.home);
  const rows = KNOWN_SOURCES.filter((row) => (isOfProject(row) ? project : user));
  const isInside = await insideOf(folders);
  const start = root ?? folders[0];
  const baseDir = start === undefined ? undefined : await realOf(start);
  const sources = await Promise.all(
    rows
      .flatMap((row) => toSources(row, root, on))
      .map(async (source): Promise<typeof source> => {
        if (baseDir === undefined || !(isOfProject(source) || (await isInside(source.path)))) return source;
        return { ...source, scope: 'project', baseDir };
      }),
  );
  // A path can be both, if the home folder is the project's.
  const byPath = new Map(sources.toReversed().map((source) => [source.path, source]));
  return {
    sources: sources.filter(
      (source) => byPath.get(source.path) === source && (project || !isOfProject(source)),
    ),
    root,
    ignored: ignoredVariables(on.platform === 'win32' ? ['APPDATA'] : FOLDER_VARIABLES, on),
  };
}

/** The project of a working folder. */
export interface Project {
  /** The nearest folder with a mark, in which its entries start. Undefined if the working folder is part of no project. */
  readonly root: string | undefined;
  /**
   * Every folder around the working folder that is a project: whoever wrote the outer one wrote the inner ones too, and a
   * mark there must not turn the outer files into the user's.
   */
  readonly folders: readonly string[];
}

/** The marks are looked for on the path as it is written, and on the path without links. */
export async function projectOf(cwd: string, home: string | undefined): Promise<Project> {
  const [asWritten, real, repositories] = await Promise.all([
    findProjects(cwd, MARKS, home),
    realOf(cwd).then((folder) => findProjects(folder, MARKS, home)),
    repositoriesAround(cwd, home),
  ]);
  return {
    root: asWritten[0] ?? repositories[0],
    folders: [...new Set([...asWritten, ...real, ...repositories])],
  };
}

/** The home folder, and those above it, that are repositories, if the working folder is inside. */
async function repositoriesAround(cwd: string, home: string | undefined): Promise<readonly string[]> {
  if (home === undefined || !(await (await insideOf([home], 'or-same'))(cwd))) return [];
  return findProjects(await realOf(home), ['.git'], undefined);
}

/** The folders and the system that decide to whom a file belongs. */
export interface Viewpoint {
  /** The folder in which the host works. */
  readonly cwd: string;
  /** Default: this machine. */
  readonly machine?: Machine | undefined;
}

/**
 * Whether a file, or its target if it is a link, is part of a project, which people other than the user may have written.
 * Files in the user's configuration folders are not, unless the folder itself is part of the present project.
 */
export async function isInProject(path: string, { cwd, machine }: Viewpoint): Promise<boolean> {
  const on = machine ?? (await thisMachine(process.env));
  const { folders } = await projectOf(cwd, on.home);
  if (await (await insideOf(folders))(path)) return true;
  const target = await realOf(path);
  const own = await Promise.all(userFolders(on).map(realOf));
  const places = [...new Set([path, target])].filter(
    (place) => !own.some((folder) => isBelow(place, folder)),
  );
  const projects = await Promise.all(places.map((place) => findProjects(dirname(place), MARKS, on.home)));
  return projects.some(({ length }) => length > 0);
}

/** The user's configuration folders, and the folders of the known files. */
function userFolders(machine: Machine): readonly string[] {
  const bases = (['own', 'dotConfig', 'appData'] as const).flatMap((base) => baseFolder(base, machine) ?? []);
  const known = KNOWN_SOURCES.filter((row) => !isOfProject(row)).flatMap((row) =>
    toSources(row, undefined, machine).map(({ path }) => dirname(path)),
  );
  return [...bases, ...known].filter(
    (folder) => machine.home === undefined || resolve(folder) !== resolve(machine.home),
  );
}

/** Every path whose file would count if it existed, including those in a project folder nearer than the present one. */
export async function placesToWatch(search: Search, machine?: Machine): Promise<readonly string[]> {
  const on = machine ?? (await thisMachine(process.env));
  const { sources, root } = await findSources(search, on);
  const folders = search.project === false ? [] : await projectFolders(search.cwd, root, on.home);
  const ofProjects = KNOWN_SOURCES.filter(isOfProject).flatMap((row) =>
    folders.flatMap((folder) => toSources(row, folder, on)),
  );
  return [...new Set([...sources, ...ofProjects].flatMap(({ path }) => path ?? []))];
}

/** The places of a row on that machine: none of a project if there is no project, and none in an unknown home. */
export function toSources(
  row: KnownSource,
  root: string | undefined,
  machine: Machine,
): readonly (Source & { readonly path: string })[] {
  const files = machine.platform === 'win32' ? (row.windows ?? row.files) : row.files;
  return files.flatMap((file) => {
    const path = toPath(file, root, machine);
    if (path === undefined) return [];
    return [
      {
        id: path,
        path,
        kind: row.kind,
        scope: row.scope,
        display: isOfProject(row) ? file.path : printable(shortened(path, machine)),
        layout: row.layout(root),
      },
    ];
  });
}

function toPath(file: FileLocation, root: string | undefined, machine: Machine): string | undefined {
  const paths = pathsOf(machine);
  if (file.in === 'project') return root === undefined ? undefined : paths.join(root, file.path);
  const [variable = '', rest = ''] = file.moved ?? [];
  const folder = folderIn(variable, machine);
  if (folder !== undefined) return paths.join(folder, rest);
  const base = baseFolder(file.in, machine);
  return base === undefined ? undefined : paths.join(base, file.path);
}

/** A path in the home folder begins with `~`. */
function shortened(path: string, machine: Machine): string {
  const paths = pathsOf(machine);
  if (machine.home === undefined) return path;
  const inside = paths.relative(machine.home, path);
  return leadsOut(inside, paths) ? path : `~${paths.sep}${inside}`;
}

function isOfProject({ scope }: { readonly scope: Scope }): boolean {
  return scope === 'project';
}
