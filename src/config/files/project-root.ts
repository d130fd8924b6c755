/** Which folder is a project, and whether a path lies in it. Links are followed: what counts is where a file really is. */
import { access, readlink, realpath, stat } from 'node:fs/promises';
import nodePath, { basename, dirname, join, type posix, relative, resolve } from 'node:path';
import { THIS_PLATFORM } from '../../platform/platform.js';
import { codeOf } from '../../text/error-message.js';

/**
 * The folders from `start` upwards that hold one of the `marks`, the nearest first, up to below the user's home folder.
 * The home folder is no project: its files belong to the user. Neither is a folder that everybody can write to, such as
 * `/tmp`: its files belong to anybody.
 */
export async function findProjects(
  start: string,
  marks: readonly string[],
  home: string | undefined,
): Promise<readonly string[]> {
  const folders = await belowHome(upwards(start), home);
  const areProjects = await Promise.all(
    folders.map(async (folder) => {
      const found = await Promise.all(marks.map((mark) => exists(join(folder, mark))));
      return found.includes(true) && !(await isWorldWritable(folder));
    }),
  );
  return folders.filter((_, index) => areProjects[index]);
}

/**
 * The folders before the home folder. It can be written in several ways: as a link, and in upper and lower case on most file
 * systems of Windows and macOS.
 */
async function belowHome(folders: readonly string[], home: string | undefined): Promise<readonly string[]> {
  if (home === undefined) return folders;
  const homes = [resolve(home), await realOf(home)];
  const areHomes = await Promise.all(
    folders.map(async (folder) => homes.includes(folder) || homes.includes(await realOf(folder))),
  );
  const end = areHomes.indexOf(true);
  return end === -1 ? folders : folders.slice(0, end);
}

/**
 * The folders in which a new file creates or changes the project: from `start` up to its `root`, or to below the home
 * folder. Outside of both, only `start`: the folders above are not ours to watch.
 */
export async function projectFolders(
  start: string,
  root: string | undefined,
  home: string | undefined,
): Promise<readonly string[]> {
  const folders = upwards(start);
  if (root !== undefined) return folders.slice(0, folders.indexOf(root) + 1);
  const below = await belowHome(folders, home);
  return below.length < folders.length ? below : folders.slice(0, 1);
}

/** From a folder up to the top. */
function upwards(start: string): readonly string[] {
  const folder = resolve(start);
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o002;

/** Anybody may create files in it, but change only their own. Of Windows that is known of the roots of drives. False if there is no such folder. */
export async function isWorldWritable(folder: string, platform = THIS_PLATFORM): Promise<boolean> {
  if (!platform.hasFileModes) return platform.paths.dirname(folder) === folder;
  const { mode } = (await stat(folder).catch(() => undefined)) ?? { mode: 0 };
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_OTHERS) !== 0;
}

/** Whether any user could have put the file, or a link to it, in its place. */
export async function isFromEverybodys(file: string): Promise<boolean> {
  const folders = [await realOf(dirname(file)), dirname(await realOf(file))];
  return (await Promise.all(folders.map((folder) => isWorldWritable(folder)))).includes(true);
}

/** A file whose links cannot be read exists all the same. */
async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: unknown) => codeOf(error) === 'ELOOP',
  );
}

/**
 * Tells whether a path, or its target if it is a link, lies below one of the folders, or is one of them with `or-same`.
 */
export async function insideOf(
  roots: readonly string[],
  same?: 'or-same',
): Promise<(path: string) => Promise<boolean>> {
  const folders = [...new Set([...roots, ...(await Promise.all(roots.map(realOf)))])];
  return async (path) => {
    const places = [path, await realOf(path)];
    return places.some((place) =>
      folders.some((each) => isBelow(place, each) || (same !== undefined && relative(each, place) === '')),
    );
  };
}

const MAX_LINKS = 40;

/** The path without links, in the case in which the file system keeps it. Parts that do not exist yet stay, because they would be created there. */
export async function realOf(path: string, maxLinks = MAX_LINKS): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  const above = dirname(path);
  if (above === path) return path;
  const place = join(await realOf(above, maxLinks), basename(path));
  const target = maxLinks === 0 ? undefined : await readlink(place).catch(() => undefined);
  return target === undefined ? place : realOf(resolve(dirname(place), target), maxLinks - 1);
}

export function isBelow(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return inside !== '' && !leadsOut(inside);
}

/** Whether a relative path leaves the folder that it starts from. The name of a file may begin with two dots. */
export function leadsOut(
  inside: string,
  paths: Pick<typeof posix, 'sep' | 'isAbsolute'> = nodePath,
): boolean {
  return inside === '..' || inside.startsWith(`..${paths.sep}`) || paths.isAbsolute(inside);
}
