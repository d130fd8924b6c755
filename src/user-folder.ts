/** Where what belongs to the user is on this machine. */
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * The user's home folder. Undefined where the system knows of none, as for a number that nobody has given a name, or of
 * one that would be another folder elsewhere.
 */
export function homeFolder(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

/** Troupe's own folder for such files. Rejects where it has no absolute path: a project could bring files of its own. */
export async function userFolder(kind: 'config' | 'data' | 'cache' | 'log'): Promise<string> {
  if (homeFolder() === undefined)
    throw new Error('the home folder is not known; set HOME to an absolute path');
  // It fails to load where there is no home folder.
  const { default: envPaths } = await import('env-paths');
  const folder = envPaths('troupe', { suffix: '' })[kind];
  if (isAbsolute(folder)) return folder;
  throw new Error(`the folder '${folder}' is no absolute path; correct the variable that names it`);
}
