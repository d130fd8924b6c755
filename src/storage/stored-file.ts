/**
 * Reads and writes a file of a store: whole, for its user alone, and whatever else is in its place by now.
 *
 * The folder `storage` reads, writes, locks and watches files and folders. It does not know what is in them: the stores do.
 */
import { readFile, stat, chmod, copyFile, link, rm, writeFile, rename } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { codeOf } from '../text/error-message.js';
import { constants } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { THIS_PLATFORM, type Platform } from '../platform/platform.js';

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
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Renames a file that cannot be understood, so that another can take its place. If it is gone already, nothing is done. */
export async function quarantineFile(file: string): Promise<void> {
  try {
    await replaceFile(file, `${file}.${randomBytes(4).toString('hex')}.broken`);
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
}

// Writes a file, by default for its user alone: first whole, under another name, then renamed. A reader sees the old file or
// the new one, even if several processes write.

const OF_ITS_USER = 0o600;

/** The folder must exist. Only the user can read the file, unless a mode is given. A rejection names the file, and leaves nothing behind. */
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

// Puts a file in the place of another. On Windows that fails while another process has one of them open, which is over in a
// moment: a reader, a virus scanner, a search index.

/** Milliseconds before each further try; together about two seconds. */
const PAUSES = [5, 10, 20, 40, 80, 160, 320, 640, 725];

export interface ReplaceTerms {
  readonly platform?: Pick<Platform, 'busyFileCodes'>;
  readonly move?: (from: string, to: string) => Promise<void>;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/** As `rename` of `node:fs`, which a test can replace, with further tries while a file is open elsewhere. */
export async function replaceFile(
  from: string,
  to: string,
  { platform = THIS_PLATFORM, move = rename, wait = pause }: ReplaceTerms = {},
): Promise<void> {
  for (const ms of PAUSES) {
    try {
      return await move(from, to);
    } catch (error) {
      if (!platform.busyFileCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    await wait(ms);
  }
  return move(from, to);
}
