/**
 * Reads a file of a store. Anything may be in its place by now: a folder, a pipe, a broken file.
 *
 * The folder `storage` reads, writes, locks and watches files and folders. It does not know what is in them: the stores do.
 */
import { readFile, stat, rename } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';

/** The text of the file; undefined if there is none. Rejects if it is not a file, or has more than `most` bytes. */
export async function readStored(file: string, most = Infinity): Promise<string | undefined> {
  try {
    const found = await stat(file);
    // Reading a pipe would wait for a writer forever.
    if (!found.isFile()) throw new Error(`${file} is not a file`);
    if (found.size > most) throw new Error(`${file} is longer than ${most} bytes, the limit`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Whether reading failed because there is no such file. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Renames a file that cannot be understood, so that another can take its place. If it is gone already, nothing is done. */
export async function quarantineFile(file: string): Promise<void> {
  try {
    await rename(file, `${file}.${randomBytes(4).toString('hex')}.broken`);
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
}
