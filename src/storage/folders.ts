/** The folders of the user on this machine: where they are, creating them, and watching them. */
import { homedir } from 'node:os';
import { isAbsolute, dirname } from 'node:path';
import { THIS_PLATFORM } from '../platform/platform.js';
import { mkdirSync, statSync, watch } from 'node:fs';

/**
 * The user's home folder. Undefined if the system knows none, for instance for a user id without a name, or if its path is
 * relative.
 */
export function homeFolder(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

export type UserFolderKind = 'config' | 'data' | 'cache' | 'log';

/** Troupe's folder for files of this kind. Rejects if its path is not absolute: a project could supply its own files. */
export async function userFolder(kind: UserFolderKind): Promise<string> {
  if (homeFolder() === undefined) {
    const { homeVariable } = THIS_PLATFORM;
    throw new Error(`the home folder is not known; set ${homeVariable} to an absolute path`);
  }
  // It fails to load if there is no home folder.
  const { default: envPaths } = await import('env-paths');
  const folder = envPaths('troupe', { suffix: '' })[kind];
  if (isAbsolute(folder)) return folder;
  throw new Error(`'${folder}' is not an absolute path; correct the variable that names this folder`);
}

// Creates a folder of the user, and the missing folders above it, one by one.
//
// The option `recursive` of Node 20 is not used: it never ends, and cannot be interrupted, if the system denies that an
// existing folder exists, as below `/proc`.

const FOR_THE_USER = 0o700;

/** For the user alone, unless `mode` says otherwise. Throws an error that names the folder that cannot be created. */
export function makeFolder(folder: string, mode = FOR_THE_USER): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have been faster.
    if (isFolder(folder)) return;
    throw new Error(`the folder '${folder}' cannot be created: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

// Watches a folder of the user. The folder is watched and not a file in it, since a replaced file is another file.

/**
 * Calls `onChange` with the name of a changed file, until the returned function is called; null if the system does not
 * give the name. Creates a missing folder. If the folder cannot be watched, `onChange` is never called.
 */
export function watchFolder(
  folder: Promise<string>,
  onChange: (file: string | null, folder: string) => void,
): () => void {
  let stop = (): void => {};
  let isOver = false;
  const begin = async (): Promise<void> => {
    const path = await folder;
    if (isOver) return;
    // Synchronous, so that nothing is created after the end.
    makeFolder(path);
    const watcher = watch(path, { persistent: false }, (_, file) => onChange(file, path));
    stop = () => watcher.close();
    watcher.on('error', stop);
  };
  begin().catch(() => {});
  return () => {
    isOver = true;
    stop();
  };
}
