/** Writes a file of the user atomically. Only its owner may read it, because it can hold secrets. */
import { realpath, stat } from 'node:fs/promises';
import { createFileAtomic, writeFileAtomic } from '../../storage/stored-file.js';

export interface WriteChoice {
  /** Replace an existing file. A link is followed. */
  readonly overwrite: boolean;
  /** Keep the permissions of a replaced file, and refuse to replace a read-only one. Default: the permissions of a new file. */
  readonly keepsMode?: boolean;
  /** Permissions of a new file, without those that the process withholds. Default: only its owner may read it. */
  readonly mode?: number;
}

const WRITABLE = 0o222;

/**
 * Rejects with an error of `node:fs`. Its code is `EEXIST` if the file exists and must not be replaced. It has no code
 * if the path exists and is not a file, which is never replaced, or is read-only.
 */
export async function writeWholeFile(
  path: string,
  text: string | Uint8Array,
  { overwrite, keepsMode = false, mode: modeOfNew }: WriteChoice,
): Promise<void> {
  const there = await stat(path).catch(() => undefined);
  if (there?.isFile() === false) throw new Error('it exists and is not a file');
  const mode = keepsMode && there !== undefined ? there.mode & 0o777 : modeOfNew;
  if (mode !== undefined && (mode & WRITABLE) === 0) throw new Error('it is read-only');
  if (overwrite) await writeFileAtomic(there === undefined ? path : await realpath(path), text, mode);
  else if (!(await createFileAtomic(path, text)))
    throw Object.assign(new Error(`${path} exists already`), { code: 'EEXIST' });
}

/** The end of a sentence about a file that `writeWholeFile` has not written. `remedy` is what to do if it exists. */
export function whyNotWritten(error: unknown, remedy = ''): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'EEXIST' ? `exists already${remedy}` : `cannot be written: ${code ?? message}`;
}

/** For commands with `--force`. */
export const FORCE_REPLACES = '; --force replaces it';
