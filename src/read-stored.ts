/** Reads a file of a store, of which nobody knows what lies in its place by now. */
import { readFile, stat } from 'node:fs/promises';
import { isAbsence } from './config/sources.js';

/** Undefined where there is none. Rejects where it is no file, and where it has more than `most` bytes. */
export async function readStored(file: string, most = Infinity): Promise<string | undefined> {
  try {
    const found = await stat(file);
    // What waits for a writer would be read for ever.
    if (!found.isFile()) throw new Error(`${file} is no file`);
    if (found.size > most) throw new Error(`${file} is longer than any that is kept`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}
