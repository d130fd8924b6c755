/**
 * Writes a file that, unless asked otherwise, only its user can read: first whole, under another name, then renamed. A reader sees the old file or
 * the new one, even if several processes write.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, link, rm, writeFile } from 'node:fs/promises';
import { replaceFile } from './replace-file.js';

const OF_ITS_USER = 0o600;

/** The folder must exist. The mode is that of a file that only its user can read, unless given. A rejection names the file, and leaves nothing behind. */
export async function writeFileAtomic(
  file: string,
  text: string | Uint8Array,
  mode = OF_ITS_USER,
): Promise<void> {
  await viaDraft(file, text, async (draft) => {
    if (mode !== OF_ITS_USER) await chmod(draft, mode);
    await replaceFile(draft, file);
  });
}

/** As `writeFileAtomic`, but does not replace an existing file. Resolves to whether the file was created. */
export async function createFileAtomic(file: string, text: string | Uint8Array): Promise<boolean> {
  return viaDraft(file, text, async (draft) => {
    try {
      await putNew(draft, file);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
  });
}

async function viaDraft<T>(
  file: string,
  text: string | Uint8Array,
  put: (draft: string) => Promise<T>,
): Promise<T> {
  // The name cannot be guessed, so nobody can put a link there first.
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    await writeFile(draft, text, { mode: OF_ITS_USER, flag: 'wx', flush: true });
    // A umask may have removed the user's own rights.
    await chmod(draft, OF_ITS_USER);
    return await put(draft);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    // The message of `node:fs` names the draft, which differs each time.
    const code = codeOf(error);
    throw Object.assign(new Error(`${file} cannot be written (${code})`, { cause: error }), { code });
  }
}

/** A link cannot replace a file. If the file system has no links, it copies, which does not replace one either. */
async function putNew(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    await copyFile(draft, file, constants.COPYFILE_EXCL);
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
