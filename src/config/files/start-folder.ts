/**
 * The start folder of entries that do not belong to a project. Programs such as `npx`, `uvx` and `python -m` run code of the
 * folder that they start in, and the working folder may be anybody's repository.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve } from 'node:path';
import { isBelow, isWorldWritable, realOf } from './project-root.js';

/**
 * The home folder, for entries of the user, of the host's code and of extensions. If there is none, or if it is part of the
 * repository that the host works in, as in some containers: the root of the file system. Synchronous, because it is a few
 * look-ups that are needed before anything else.
 */
export function startFolderOfUser(home: string | undefined, cwd: string): string {
  const { root } = parse(resolve(cwd));
  if (home === undefined || !isFolder(home)) return root;
  const atHome = realPath(home);
  return repositoriesOf(realPath(cwd)).some((folder) => folder === atHome || isBelow(atHome, folder))
    ? root
    : home;
}

/** The repositories around a folder: one can lie in another. */
function repositoriesOf(folder: string): readonly string[] {
  const parent = dirname(folder);
  const outer = parent === folder ? [] : repositoriesOf(parent);
  return existsSync(join(folder, '.git')) ? [folder, ...outer] : outer;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

/** Folders of a project in which other hosts keep their files. */
const OF_HOSTS: ReadonlySet<string> = new Set(['.vscode', '.cursor', '.claude']);

/**
 * For the entries of a file that someone named: the working folder if the file is in it, else the folder of the file. In a
 * folder that everybody can write to, `otherwise`.
 */
export async function startFolderOfFile(path: string, cwd: string, otherwise: string): Promise<string> {
  const [file, working] = [await realOf(path), await realOf(cwd)];
  const ofFile = OF_HOSTS.has(basename(dirname(file))) ? dirname(dirname(file)) : dirname(file);
  return unlessEverybodys(isBelow(file, working) ? working : ofFile, otherwise);
}

/** For the entries of a file that is said to be a project's: its folder. In one that everybody can write to, `otherwise`. */
export async function startFolderOfProjectFile(path: string, otherwise: string): Promise<string> {
  return unlessEverybodys(await realOf(dirname(path)), otherwise);
}

async function unlessEverybodys(folder: string, otherwise: string): Promise<string> {
  return (await isWorldWritable(folder)) ? otherwise : folder;
}
