/** The folders of the user on this machine. */
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

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
  if (homeFolder() === undefined)
    throw new Error('the home folder is not known; set HOME to an absolute path');
  // It fails to load if there is no home folder.
  const { default: envPaths } = await import('env-paths');
  const folder = envPaths('troupe', { suffix: '' })[kind];
  if (isAbsolute(folder)) return folder;
  throw new Error(`'${folder}' is not an absolute path; correct the variable that names this folder`);
}
