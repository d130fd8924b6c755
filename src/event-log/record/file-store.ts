/**
 * A log in a file that only its user can read.
 *
 * F1. An existing file is never overwritten: it becomes `PATH.1`, and the previous `PATH.1` is removed. So the parts
 *     take at most twice `maxBytes`. A folder, a pipe or a device stays, and is an error.
 * F2. The file is opened with the first line, so an empty recording creates no file.
 * F3. The path is resolved in the working directory at the time when the sink was made.
 */
import { lstat, open, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { replaceFile } from '../../storage/stored-file.js';
import type { LogSink } from './record-options.js';

/** Options of `createLogFile`. */
export interface LogFileOptions {
  /** Size after which a new part begins, bytes. Default 64 MiB. */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_LOG_BYTES = 64 * 1_024 * 1_024;

/**
 * A sink for `record` that writes to a file. Opens nothing yet; `write` rejects as `node:fs` does.
 *
 * @param path Path of the file, relative to the current working directory. An existing file becomes `PATH.1`.
 * @param options Size after which a new part begins. Default: 64 MiB.
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
export function createLogFile(
  path: string,
  { maxBytes = DEFAULT_MAX_LOG_BYTES }: LogFileOptions = {},
): LogSink {
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
      file ??= await openAnew(absolute);
      await file.appendFile(lines);
    },
    rotate: close,
    close,
  };
}

async function openAnew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'ax', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const there = await lstat(path);
  if (!there.isFile() && !there.isSymbolicLink()) throw new Error(`'${path}' exists and is not a file.`);
  await replaceFile(path, `${path}.1`);
  return open(path, 'ax', 0o600);
}
