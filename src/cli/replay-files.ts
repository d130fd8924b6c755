/**
 * The files of recordings. A long recording continues in new files; the older ones are beside it with a number. A report holds
 * any number of recordings.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { LogHeader } from '../event-log/format/entry.js';
import { bytesOf, type LogSource } from '../event-log/format/log-source.js';
import { readLog } from '../event-log/format/read-log.js';
import type { LogReport } from '../event-log/format/report.js';
import { runLabels } from '../event-log/format/runs.js';
import { groupRuns, splitParts } from '../event-log/format/split-parts.js';
import { messageOf } from '../text/error-message.js';
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
  for await (const piece of readLog(file)) return piece.type === 'header' ? piece.header : undefined;
  return undefined;
}

/** A part of a recording: a file, or a piece of a report. */
export interface PartFile {
  /** Path of the file that holds it. */
  readonly file: string;
  /** `onBytes` is called as it is read, with the number of bytes. */
  readonly source: (onBytes?: (bytes: number) => void) => LogSource;
  /** Size in bytes. */
  readonly size: number;
}

/** One recording. */
export interface RunFiles {
  /** Computer and process; undefined if no header can be read. */
  readonly label: string | undefined;
  /** The oldest first. */
  readonly parts: readonly PartFile[];
  /** The first line of the report that holds it. */
  readonly report?: LogReport | undefined;
}

/**
 * The recordings in those files, in the order in which they began. For each file, also the earlier parts of its recording that
 * are beside it. A single file may be a pipe, which is not read here. A file without a header is a recording of its own.
 *
 * Throws a `UsageError` as `filesOfLog`, and for a report that cannot be read.
 */
export async function runsOfLogs(logs: readonly string[]): Promise<readonly RunFiles[]> {
  for (const log of logs) await checkFile(log);
  const [only = ''] = logs;
  if (logs.length === 1 && !(await isFile(only)))
    return [{ label: undefined, parts: [await partFile(only)] }];
  await checkReadTwice(logs, 'several logs need');
  const files = [...new Set((await Promise.all(logs.map(withEarlier))).flat())];
  const found: FoundPart[] = [];
  const unread: PartFile[] = [];
  for (const file of files) {
    if (await isReport(file)) found.push(...(await partsOfReport(file)));
    else {
      const [header, part] = [await headerOf(file), await partFile(file)];
      if (header === undefined) unread.push(part);
      else found.push({ ...part, header });
    }
  }
  const runs = groupRuns(found).map(({ parts }) => parts);
  const labels = runLabels(runs.map(([first]) => first?.header as LogHeader));
  return [
    ...runs.map((parts, index) => ({ label: labels[index], parts, report: parts[0]?.report })),
    ...unread.map((part) => ({ label: undefined, parts: [part] })),
  ];
}

async function partFile(file: string): Promise<PartFile> {
  const { size } = await stat(file);
  return { file, source: (onBytes) => (onBytes === undefined ? file : counted(file, onBytes)), size };
}

interface FoundPart extends PartFile {
  readonly header: LogHeader;
  readonly report?: LogReport | undefined;
}

async function isReport(file: string): Promise<boolean> {
  for await (const piece of readLog(file)) return piece.type === 'report';
  return false;
}

async function partsOfReport(file: string): Promise<readonly FoundPart[]> {
  try {
    const { report, parts } = splitParts(await bytesOf(file));
    return parts.map(({ header, bytes, size }) => ({
      file,
      header,
      report,
      size,
      source: (onBytes) => {
        onBytes?.(size);
        return bytes;
      },
    }));
  } catch (error) {
    throw new UsageError(`'${file}' cannot be read: ${messageOf(error)}`);
  }
}

const CHUNK_BYTES = 1_024 * 1_024;

async function* counted(file: string, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    const bytes = chunk as Uint8Array;
    yield bytes;
    onBytes(bytes.length);
  }
}
