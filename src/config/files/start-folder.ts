/**
 * Where the programs of an entry start that is no project's: programs such as `npx`, `uvx` and `python -m` run code of the
 * folder that they start in, and the working folder may be anybody's repository.
 */
import { stat } from 'node:fs/promises';
import { basename, dirname, parse, resolve } from 'node:path';
import { findProjectRoot, insideOf, isBelow, isEverybodys, realOf } from './project-root.js';

/**
 * The home folder, for entries of the user, of the host's code and of extensions. If there is none, or if it is part of the
 * repository that the host works in, as in some containers: the root of the file system.
 */
export async function startFolderOfUser(home: string | undefined, cwd: string): Promise<string> {
  const { root } = parse(resolve(cwd));
  if (home === undefined || !(await isFolder(home))) return root;
  const repository = await findProjectRoot(await realOf(cwd), ['.git'], undefined);
  return (await (await insideOf(repository, 'or-same'))(home)) ? root : home;
}

/** Folders of a project in which other hosts keep their files. */
const OF_HOSTS: ReadonlySet<string> = new Set(['.vscode', '.cursor', '.claude']);

/**
 * For the entries of a file that somebody named: the working folder if the file is in it, else the folder of the file. In a
 * folder that everybody can write to, `otherwise`.
 */
export async function startFolderOfFile(path: string, cwd: string, otherwise: string): Promise<string> {
  const [file, working] = [await realOf(path), await realOf(cwd)];
  if (isBelow(file, working)) return working;
  const folder = OF_HOSTS.has(basename(dirname(file))) ? dirname(dirname(file)) : dirname(file);
  return (await isEverybodys(folder).catch(() => false)) ? otherwise : folder;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
