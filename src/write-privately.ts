/**
 * A file that only its user can read, written whole beside its place and then put there: whoever reads sees the old
 * one or the new one, also where several processes write.
 */
import { randomBytes } from 'node:crypto';
import { chmod, rename, rm, writeFile } from 'node:fs/promises';

/** The folder has to be there. Rejects as `node:fs` does, and leaves nothing behind then. */
export async function writePrivately(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    // What a umask took away from the user is given back.
    await chmod(draft, 0o600);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}
