/** The files of one recording: a long one goes on in new files, and the older ones stand beside with a number. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { LogHeader } from '../event-log/entry.js';
import { LogParser } from '../event-log/read-log.js';
import { UsageError } from './usage-error.js';

/** More than this many files of one recording are not looked for. */
const MOST_PARTS = 1_000;

/**
 * The files to be played, the oldest first: those that were given, in the order of the recording; for one alone also
 * what came before it, `LOG.1`, `LOG.2` and so on, as far as it is there and belongs to it. One alone may be a pipe, which
 * is left unread.
 *
 * Throws a `UsageError` for a file that does not exist or is none, and for a pipe beside others.
 */
export async function filesOfLog(files: readonly string[]): Promise<readonly string[]> {
  for (const file of files) await checkFile(file);
  const [only] = files;
  if (files.length === 1 && only !== undefined) return (await isFile(only)) ? withEarlier(only) : files;
  await checkReadTwice(files, 'several parts need');
  const parts = await Promise.all(
    files.map(async (file) => ({ file, part: (await headerOf(file))?.part ?? 0 })),
  );
  return parts.toSorted((a, b) => a.part - b.part).map(({ file }) => file);
}

/** Bytes of all of them. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((file) => stat(file)));
  return stats.reduce((sum, { size }) => sum + size, 0);
}

/** Throws a `UsageError` where one is a pipe or a device; `why` is who needs a file, as the end of a sentence. */
export async function checkReadTwice(files: readonly string[], why: string): Promise<void> {
  for (const file of files)
    if (!(await isFile(file))) throw new UsageError(`'${file}' is no file, which ${why}.`);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path)).isFile();
}

async function withEarlier(file: string): Promise<readonly string[]> {
  const files = [file];
  let later = await headerOf(file);
  for (let number = 1; later !== undefined && later.part > 1 && number < MOST_PARTS; number += 1) {
    const candidate = `${file}.${number}`;
    const header = await headerOf(candidate);
    if (header === undefined || !isBefore(header, later)) break;
    files.unshift(candidate);
    later = header;
  }
  return files;
}

function isBefore(earlier: LogHeader, later: LogHeader): boolean {
  return (
    earlier.part === later.part - 1 &&
    earlier.seed === later.seed &&
    earlier.firstSeq < later.firstSeq &&
    earlier.startedAt <= later.startedAt
  );
}

async function checkFile(file: string): Promise<void> {
  try {
    if (!(await stat(file)).isDirectory()) return;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === 'ENOENT' ? `There is no file '${file}'.` : `'${file}' cannot be read: ${message}`,
    );
  }
  throw new UsageError(`'${file}' is a folder, and no event log.`);
}

/** Undefined where the file has none, or cannot be read: what plays it says why. */
async function headerOf(file: string): Promise<LogHeader | undefined> {
  const parser = new LogParser();
  try {
    for await (const chunk of createReadStream(file)) {
      const [piece] = parser.push(chunk as Uint8Array);
      if (piece !== undefined) return piece.type === 'header' ? piece.header : undefined;
    }
  } catch {
    return undefined;
  }
  return undefined;
}
