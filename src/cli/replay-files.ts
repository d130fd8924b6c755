/** The files of one recording. A long recording continues in new files; the older ones are beside it with a number. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { LogHeader } from '../event-log/format/entry.js';
import { LogParser } from '../event-log/format/read-log.js';
import { UsageError } from './exit.js';

/** The maximum number of files of one recording to look for. */
const MAX_PARTS = 1_000;

/**
 * The files to replay, the oldest first: the given files in the order of the recording. For a single file, also the
 * earlier parts `LOG.1`, `LOG.2` and so on, as far as they exist and belong to it. A single file may be a pipe, which
 * is not read here.
 *
 * Throws a `UsageError` for a path that does not exist or is not a file, and for a pipe among several files.
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

/** Total size in bytes. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((file) => stat(file)));
  return stats.reduce((sum, { size }) => sum + size, 0);
}

/** Throws a `UsageError` if one is a pipe or a device; `why` says who needs a file, as the end of a sentence. */
export async function checkReadTwice(files: readonly string[], why: string): Promise<void> {
  for (const file of files)
    if (!(await isFile(file))) throw new UsageError(`'${file}' is not a file, which ${why}.`);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path)).isFile();
}

async function withEarlier(file: string): Promise<readonly string[]> {
  const files = [file];
  let later = await headerOf(file);
  for (let number = 1; later !== undefined && later.part > 1 && number < MAX_PARTS; number += 1) {
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
  throw new UsageError(`'${file}' is a folder, not an event log.`);
}

/** Undefined if the file has no header or cannot be read; the replay reports why. */
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
