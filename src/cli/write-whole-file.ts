/** Writes a file so that nobody ever sees half of it. Only its owner may read it, since it can hold secrets. */
import { constants } from 'node:fs';
import { copyFile, link, open, realpath, rename, rm, stat } from 'node:fs/promises';

export interface WriteChoice {
  /** Replace what is there. A link is followed. */
  readonly overwrite: boolean;
}

/**
 * Rejects as `node:fs` does, with `EEXIST` where the file is there and is not to be replaced; without a code where what
 * is there is no file, which is never replaced.
 */
export async function writeWholeFile(path: string, text: string, { overwrite }: WriteChoice): Promise<void> {
  const there = await stat(path).catch(() => undefined);
  if (there?.isFile() === false) throw new Error('it is there and is no file');
  const target = overwrite && there !== undefined ? await realpath(path) : path;
  const draft = `${target}.${process.pid}.tmp`;
  try {
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await (overwrite ? rename(draft, target) : placeNew(draft, target));
  } finally {
    await rm(draft, { force: true });
  }
}

/** A link cannot replace anything; where the file system has none, a copy that does not either has to do. */
async function placeNew(draft: string, target: string): Promise<void> {
  try {
    await link(draft, target);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw error;
    await copyFile(draft, target, constants.COPYFILE_EXCL);
  }
}
