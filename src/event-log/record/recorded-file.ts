/**
 * Reads the parts of a recording that is being written to a file (`file-store.ts`), up to some moment.
 *
 * P1. All files are opened before the first is read: a rotation renames them, and an open file keeps its content.
 * P2. Files of an earlier run are recognised by their header and are not read.
 * P3. A line that is still being written is left out.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { isJsonObject } from '../../json/json-object.js';
import { parseJson } from '../../json/parse-json.js';
import type { LogHeader } from '../format/entry.js';

/** A recording that is being written to a file. */
export interface RecordedFile {
  /** Absolute path of the newest part; the older ones are `PATH.1` and so on. */
  readonly path: string;
  /** Seed of the run, as in its headers. */
  readonly seed: number;
  /** When the recording began, milliseconds since the epoch. */
  readonly startedAt: number;
}

const LINE_FEED = 0x0a;
const CHUNK_BYTES = 256 * 1_024;
/** More than any header. */
const HEADER_BYTES = 16 * 1_024;
const TIME = /^\{"seq":\d+,"at":(-?[\d.]+)/;

/**
 * Whole lines of the recording, in pieces, up to the last entry at or before `until`. Older parts are left out once there
 * are more than `maxBytes`. Yields nothing if the file is not there, or is of another run.
 */
export async function* recordedUntil(
  file: RecordedFile,
  until: number,
  maxBytes: number,
): AsyncGenerator<string, void, undefined> {
  const parts = await openParts(file, maxBytes);
  try {
    for (const part of parts.toReversed()) {
      for await (const lines of linesOf(part)) {
        const isWithin = timeOf(lines.slice(lines.lastIndexOf('\n', lines.length - 2) + 1)) <= until;
        const kept = isWithin ? lines : linesUpTo(lines, until);
        if (kept !== '') yield kept;
        if (kept.length < lines.length) return;
      }
    }
  } finally {
    await Promise.all(parts.map((part) => part.close()));
  }
}

/** The newest first. */
async function openParts(file: RecordedFile, maxBytes: number): Promise<readonly FileHandle[]> {
  const parts: FileHandle[] = [];
  let run: string | undefined;
  for (let size = 0; size < maxBytes;) {
    const path = parts.length === 0 ? file.path : `${file.path}.${parts.length}`;
    const part = await open(path, 'r').catch(() => undefined);
    if (part === undefined) break;
    const header = await headerOf(part);
    const isOurs = header?.seed === file.seed && header.startedAt >= file.startedAt;
    if (!isOurs || (run !== undefined && header.run !== run)) {
      await part.close();
      break;
    }
    run = header.run;
    parts.push(part);
    size += (await part.stat()).size;
  }
  return parts;
}

async function headerOf(part: FileHandle): Promise<LogHeader | undefined> {
  const { buffer, bytesRead } = await part.read({ buffer: Buffer.alloc(HEADER_BYTES), position: 0 });
  const value = parseJson(buffer.subarray(0, bytesRead).toString().split('\n', 1)[0] ?? '');
  return isJsonObject(value) ? (value as unknown as LogHeader) : undefined;
}

async function* linesOf(part: FileHandle): AsyncGenerator<string, void, undefined> {
  let rest = Buffer.alloc(0);
  const chunks = part.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES, autoClose: false });
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    rest = bytes.subarray(end);
    if (end > 0) yield bytes.subarray(0, end).toString();
  }
}

function linesUpTo(lines: string, until: number): string {
  let end = 0;
  for (let next = lines.indexOf('\n') + 1; next > 0; next = lines.indexOf('\n', end) + 1) {
    if (timeOf(lines.slice(end, next)) > until) break;
    end = next;
  }
  return lines.slice(0, end);
}

/** A header counts as early as possible. */
function timeOf(line: string): number {
  return Number(TIME.exec(line)?.[1] ?? -Infinity);
}
