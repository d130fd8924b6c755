/** Finds the folder of the project that somebody works in. */
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/**
 * The nearest folder from `start` upwards that holds one of the `marks`; undefined where there is none before the
 * user's home folder, which is no project: what lies there is the user's. Neither is a folder that everybody puts files
 * into, such as `/tmp`: what lies there is anybody's.
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
 * The folders in which a file that appears makes or changes the project: from `start` up to its `root`, or to below the
 * home folder. Outside of both, `start` alone: what lies above is nobody's to watch.
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

/** Anybody may write into it, but only to files of their own. */
async function isEverybodys(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_OTHERS) !== 0;
}

/** What cannot be read for its links is there all the same. */
async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ELOOP',
  );
}
