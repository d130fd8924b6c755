/**
 * A log in a file that only its user can read.
 *
 * F1. What stands at the path is never written over: it becomes `PATH.1`, the one before the last is gone. So the parts
 *     take twice `maxBytes` at most. A folder, a pipe or a device stays where it is, and is an error.
 * F2. The file is opened with the first line, so nothing is made for a recording that holds nothing.
 * F3. The path is that of the folder in which the process was when the sink was made.
 */
import { lstat, open, rename, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { LogSink } from './log-sink.js';

export interface LogFileOptions {
  /** Size after which a new part begins, bytes. Default 64 MiB. */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_LOG_BYTES = 64 * 1_024 * 1_024;

/** A sink for `record` that writes to a file. Opens nothing yet; `write` rejects as `node:fs` does. */
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
  if (!there.isFile() && !there.isSymbolicLink()) throw new Error(`'${path}' is there and is no file.`);
  await rename(path, `${path}.1`);
  return open(path, 'ax', 0o600);
}
