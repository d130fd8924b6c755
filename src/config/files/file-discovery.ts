/**
 * Which of the known files to read on this machine, in order of precedence. Does not read them: whether a file exists
 * shows when it is read.
 */
import { KNOWN_SOURCES, type FileLocation, type KnownSource } from './known-sources.js';
import { baseFolder, pathsOf, thisMachine, type Machine } from './places.js';
import { printable } from '../entry/problem.js';
import type { Source } from './sources.js';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

export interface Search {
  /** Folder in which the search for the project starts. */
  readonly cwd: string;
  readonly project?: boolean;
  readonly user?: boolean;
}

export interface FoundFiles {
  readonly sources: readonly Source[];
  /** The project's folder. */
  readonly root: string | undefined;
}

/** A folder with one of these is a project. */
const MARKS = [
  ...KNOWN_SOURCES.filter(isOfProject).flatMap(({ files }) => files.map(({ path }) => path)),
  '.git',
];

/** The sources to read. `machine` is this one, unless a test passes another. */
export async function findSources(
  { cwd, project = true, user = true }: Search,
  machine?: Machine,
): Promise<FoundFiles> {
  const on = machine ?? (await thisMachine(process.env));
  const root = await findProjectRoot(cwd, MARKS, on.home);
  const rows = KNOWN_SOURCES.filter((row) => (isOfProject(row) ? project : user));
  return { sources: rows.flatMap((row) => toSources(row, root, on)), root };
}

/**
 * Whether a file, or its target if it is a link, is part of a project, which people other than the user may have written.
 * Files in the user's configuration folders are not part of a project.
 */
export async function isInProject(path: string, machine?: Machine): Promise<boolean> {
  const on = machine ?? (await thisMachine(process.env));
  const target = await realpath(path).catch(() => path);
  const own = await Promise.all(userFolders(on).map((folder) => realpath(folder).catch(() => folder)));
  const places = [...new Set([path, target])].filter(
    (place) => !own.some((folder) => isBelow(place, folder)),
  );
  const roots = await Promise.all(places.map((place) => findProjectRoot(dirname(place), MARKS, on.home)));
  return roots.some((root) => root !== undefined);
}

/** The user's configuration folders, and the folders of the known files. */
function userFolders(machine: Machine): readonly string[] {
  const bases = (['own', 'dotConfig', 'appData'] as const).flatMap((base) => baseFolder(base, machine) ?? []);
  const known = KNOWN_SOURCES.filter((row) => !isOfProject(row)).flatMap((row) =>
    toSources(row, undefined, machine).flatMap(({ path }) => (path === undefined ? [] : [dirname(path)])),
  );
  return [...bases, ...known].filter(
    (folder) => machine.home === undefined || resolve(folder) !== resolve(machine.home),
  );
}

function isBelow(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return inside !== '' && !leadsOut(inside, { sep, isAbsolute });
}

/** Whether a relative path leaves the folder that it starts from. The name of a file may begin with two dots. */
function leadsOut(inside: string, paths: Pick<ReturnType<typeof pathsOf>, 'sep' | 'isAbsolute'>): boolean {
  return inside === '..' || inside.startsWith(`..${paths.sep}`) || paths.isAbsolute(inside);
}

/** Every path whose file would count if it existed, including those in a project folder nearer than the present one. */
export async function placesToWatch(search: Search, machine?: Machine): Promise<readonly string[]> {
  const on = machine ?? (await thisMachine(process.env));
  const { sources, root } = await findSources(search, on);
  const folders = search.project === false ? [] : projectFolders(search.cwd, root, on.home);
  const ofProjects = KNOWN_SOURCES.filter(isOfProject).flatMap((row) =>
    folders.flatMap((folder) => toSources(row, folder, on)),
  );
  return [...new Set([...sources, ...ofProjects].flatMap(({ path }) => path ?? []))];
}

/** The places of a row on that machine: none of a project if there is no project, and none in an unknown home. */
export function toSources(row: KnownSource, root: string | undefined, machine: Machine): readonly Source[] {
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
        ...(isOfProject(row) && root !== undefined && { baseDir: root }),
      },
    ];
  });
}

function toPath(file: FileLocation, root: string | undefined, machine: Machine): string | undefined {
  const paths = pathsOf(machine);
  if (file.in === 'project') return root === undefined ? undefined : paths.join(root, file.path);
  const [variable = '', rest = ''] = file.moved ?? [];
  const folder = machine.env[variable];
  if (folder) return paths.join(paths.resolve(folder), rest);
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

function isOfProject({ scope }: Pick<KnownSource, 'scope'>): boolean {
  return scope === 'project';
}

// Finds the folder of the current project.

/**
 * The nearest folder from `start` upwards that holds one of the `marks`. Undefined if there is none below the user's
 * home folder. The home folder is no project: its files belong to the user. Neither is a folder that everybody can
 * write to, such as `/tmp`: its files belong to anybody.
 */
export async function findProjectRoot(
  start: string,
  marks: readonly string[],
  home: string | undefined,
): Promise<string | undefined> {
  for (const folder of upwards(start, home)) {
    const found = await Promise.all(marks.map((mark) => exists(join(folder, mark))));
    if (found.includes(true) && !(await isEverybodys(folder))) return folder;
  }
  return undefined;
}

/**
 * The folders in which a new file creates or changes the project: from `start` up to its `root`, or to below the home
 * folder. Outside of both, only `start`: the folders above are not ours to watch.
 */
export function projectFolders(
  start: string,
  root: string | undefined,
  home: string | undefined,
): readonly string[] {
  const folders = upwards(start, home);
  if (root !== undefined) return folders.slice(0, folders.indexOf(root) + 1);
  const [top] = folders.slice(-1);
  const isBelowHome = top !== undefined && home !== undefined && dirname(top) === resolve(home);
  return isBelowHome ? folders : folders.slice(0, 1);
}

/** From a folder up to the top, or to below the home folder. */
function upwards(start: string, home: string | undefined): readonly string[] {
  const top = home === undefined ? undefined : resolve(home);
  const folders: string[] = [];
  for (let folder = resolve(start); folder !== top; folder = dirname(folder)) {
    folders.push(folder);
    if (dirname(folder) === folder) break;
  }
  return folders;
}

const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o002;

/** Anybody may create files in it, but change only their own. */
async function isEverybodys(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_OTHERS) !== 0;
}

/** A file whose links cannot be read exists all the same. */
async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ELOOP',
  );
}
