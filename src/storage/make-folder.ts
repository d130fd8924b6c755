/**
 * Creates a folder of the user, and the missing folders above it, one by one.
 *
 * The option `recursive` of Node 20 is not used: it never ends, and cannot be interrupted, if the system denies that an
 * existing folder exists, as below `/proc`.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

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
