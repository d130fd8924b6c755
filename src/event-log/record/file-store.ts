/**
 * A log in a file that only its user can read.
 *
 * F1. An existing file is never overwritten: it becomes `PATH.1`, the previous `PATH.1` becomes `PATH.2`, and so on. The
 *     oldest are removed beyond a number and a total size: a host that crashes in a loop keeps its first incidents for a
 *     while, and never fills the disk. A folder, a pipe or a device stays, and is an error.
 * F2. The file is opened with the first line, so an empty recording creates no file.
 * F3. The path is resolved in the working directory at the time when the sink was made.
 */
import { lstat, open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { replaceFile } from '../../storage/stored-file.js';
import type { LogFileOptions, LogSink } from './record-options.js';

const DEFAULT_MAX_LOG_BYTES = 64 * 1_024 * 1_024;
const DEFAULT_OLDER_FILES = 20;
/** Parts of the default size that older files may take. */
const OLDER_PARTS = 4;

/**
 * A sink for `record` that writes to a file. Opens nothing yet; `write` rejects as `node:fs` does.
 *
 * @param path Path of the file, relative to the current working directory. An existing file becomes `PATH.1`.
 * @param options Size after which a new part begins, and how many older files are kept. Default: 64 MiB; 20 files of
 *   together 256 MiB.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { createLogFile } from 'mcp-troupe/event-log';
 *
 * const sink = createLogFile('troupe.log', { maxBytes: 1_048_576 });
 * const troupe = createTroupe({ config: '.mcp.json', record: sink });
 * ```
 */
export function createLogFile(path: string, options: LogFileOptions = {}): LogSink {
  const { maxBytes = DEFAULT_MAX_LOG_BYTES, maxOlderFiles = DEFAULT_OLDER_FILES } = options;
  const older = { maxOlderFiles, maxOlderBytes: options.maxOlderBytes ?? OLDER_PARTS * maxBytes };
  const absolute = resolve(path);
  let file: FileHandle | undefined;

  async function close(): Promise<void> {
    const open = file;
    file = undefined;
    await open?.close();
  }

  return {
    maxSize: maxBytes,
    async write(lines) {
      file ??= await openAnew(absolute, older);
      await file.appendFile(lines);
    },
    rotate: close,
    close,
  };
}

type Older = Required<Pick<LogFileOptions, 'maxOlderFiles' | 'maxOlderBytes'>>;

async function openAnew(path: string, older: Older): Promise<FileHandle> {
  try {
    return await open(path, 'ax', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const there = await lstat(path);
  if (!there.isFile() && !there.isSymbolicLink()) throw new Error(`'${path}' exists and is not a file.`);
  await moveAside(path, older);
  return open(path, 'ax', 0o600);
}

/** Makes place for a new file: each older one gets the next number, and the oldest beyond the limits are removed. */
async function moveAside(path: string, limits: Older): Promise<void> {
  const older = await olderFiles(path);
  const sizes = await Promise.all([path, ...older].map(async (file) => (await lstat(file)).size));
  const kept = numberKept(sizes, limits);
  for (const file of [path, ...older].slice(kept)) await rm(file);
  const files = [path, ...older].slice(0, kept).entries();
  for (const [index, file] of [...files].toReversed()) await replaceFile(file, `${path}.${index + 1}`);
}

/** `PATH.1`, `PATH.2` and so on, as far as there is no gap. */
async function olderFiles(path: string): Promise<readonly string[]> {
  const names = new Set(await readdir(dirname(path)));
  const numbers = Array.from(names, (_, index) => index + 1);
  const end = numbers.findIndex((number) => !names.has(`${basename(path)}.${number}`));
  return numbers.slice(0, end === -1 ? undefined : end).map((number) => `${path}.${number}`);
}

/** How many files are kept, if these are their sizes, the newest first. */
function numberKept(sizes: readonly number[], { maxOlderFiles, maxOlderBytes }: Older): number {
  const totals = sizes.map((_, index) => sizes.slice(0, index + 1).reduce((sum, size) => sum + size, 0));
  const fitting = totals.filter((total, index) => index === 0 || total <= maxOlderBytes);
  return Math.min(fitting.length, maxOlderFiles);
}
