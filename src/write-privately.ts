/**
 * A file that only its user can read, written whole beside its place and then put there: whoever reads sees the old
 * one or the new one, also where several processes write.
 */
import { randomBytes } from 'node:crypto';
import { chmod, link, rename, rm, writeFile } from 'node:fs/promises';

/** The folder has to be there. Rejects with an error that names the file, and leaves nothing behind then. */
export async function writePrivately(file: string, text: string): Promise<void> {
  await viaDraft(file, text, (draft) => rename(draft, file));
}

/** As `writePrivately`, but leaves a file alone that is there already. Gives whether there was none. */
export async function createPrivately(file: string, text: string): Promise<boolean> {
  return viaDraft(file, text, async (draft) => {
    try {
      await link(draft, file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
  });
}

async function viaDraft<T>(file: string, text: string, put: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    // What a umask took away from the user is given back.
    await chmod(draft, 0o600);
    return await put(draft);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    // That of `node:fs` names the draft, which is another one each time.
    const { code } = error as NodeJS.ErrnoException;
    throw Object.assign(new Error(`${file} cannot be written (${code})`, { cause: error }), { code });
  }
}
