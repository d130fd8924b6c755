/**
 * Which of the known files are to be read on this machine, in order of precedence. Reads none of them; whether a file
 * is there shows when it is read.
 */
import { KNOWN_SOURCES, type FilePlace, type KnownSource } from './known-sources.js';
import { baseFolder, pathsOf, thisMachine, type Machine } from './places.js';
import { printable } from './problem.js';
import { findProjectRoot, projectFolders } from './project-root.js';
import type { Source } from './sources.js';

export interface Search {
  /** Folder in which the search for the project begins. */
  readonly cwd: string;
  readonly project?: boolean;
  readonly user?: boolean;
}

export interface FoundPlaces {
  readonly sources: readonly Source[];
  /** The project's folder. */
  readonly root: string | undefined;
}

const REPOSITORY = '.git';

/** Where to look: `machine` is this one, unless a test says otherwise. */
export async function findSources(
  { cwd, project = true, user = true }: Search,
  machine?: Machine,
): Promise<FoundPlaces> {
  const on = machine ?? (await thisMachine(process.env));
  const marks = [
    ...KNOWN_SOURCES.filter(isOfProject).flatMap(({ files }) => files.map(({ path }) => path)),
    REPOSITORY,
  ];
  const root = await findProjectRoot(cwd, marks, on.home);
  const rows = KNOWN_SOURCES.filter((row) => (isOfProject(row) ? project : user));
  return { sources: rows.flatMap((row) => toSources(row, root, on)), root };
}

/** Every path at which a file counts once it is there, a project's in a folder that is nearer than the present one included. */
export async function placesToWatch(search: Search, machine?: Machine): Promise<readonly string[]> {
  const on = machine ?? (await thisMachine(process.env));
  const { sources, root } = await findSources(search, on);
  const folders = search.project === false ? [] : projectFolders(search.cwd, root, on.home);
  const ofProjects = KNOWN_SOURCES.filter(isOfProject).flatMap((row) =>
    folders.flatMap((folder) => toSources(row, folder, on)),
  );
  return [...new Set([...sources, ...ofProjects].flatMap(({ path }) => path ?? []))];
}

/** Every place a row names on that machine; none of a project where there is no project, nor of a home that is not known. */
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

function toPath(file: FilePlace, root: string | undefined, machine: Machine): string | undefined {
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
  return inside.startsWith('..') || paths.isAbsolute(inside) ? path : `~${paths.sep}${inside}`;
}

function isOfProject({ scope }: Pick<KnownSource, 'scope'>): boolean {
  return scope === 'project';
}
