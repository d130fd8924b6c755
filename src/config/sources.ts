/**
 * Where configuration comes from, and how its text is got.
 */
import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ConfigProblem } from '../errors.js';
import type { Layout } from './layout.js';

/**
 * `host`: named by the host's code. `given`: a file named by its user. `project`, `user`: files that were found.
 * `extension`: brought by an extension of the host.
 */
export type Scope = 'host' | 'given' | 'project' | 'user' | 'extension';

/** One place that may name servers. A text that is already at hand is not read from `path` again. */
export interface Source {
  /** Unique; for a file its absolute path. */
  readonly id: string;
  readonly scope: Scope;
  /** As a person would recognise it, for messages; default: `id`. */
  readonly display?: string;
  /** Absolute path of the file. */
  readonly path?: string;
  readonly text?: string;
  /** How the file is built. Default: by the ending of its name, after any host's habit. */
  readonly layout?: Layout;
  /** Absolute path that relative paths of its entries start from. Default: see `baseDirOf`. */
  readonly baseDir?: string;
  /** Of a file that was looked for: which host's habit it follows. It need not be there. */
  readonly kind?: string;
}

/** How a source was found to be. */
export interface SourceReport {
  readonly id: string;
  readonly scope: Scope;
  readonly path?: string;
  /** Its servers could be read; single entries may still have been refused. */
  readonly ok: boolean;
  /** Why not. */
  readonly message?: string;
}

/**
 * Reads a whole file as text, or rejects as `node:fs` does. It has to be an ordinary one, which can be read again:
 * whoever reads a pipe or a terminal may wait for ever. Somebody who pointed at another is told to give a file.
 */
export type ReadText = (path: string, isPointedAt?: boolean) => Promise<string>;

const LARGEST_BYTES = 4 * 1024 * 1024;

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'may not be read (permission denied)',
  EPERM: 'may not be read (operation not permitted)',
  EISDIR: 'is a folder, not a file',
  ENOTDIR: 'cannot be reached: a part of its path is not a folder',
  ELOOP: 'cannot be reached: its links go round in a circle',
  ENAMETOOLONG: 'cannot be read: its name is too long',
  ENXIO: 'is a socket or a device, not a file',
};

/** A file that was opened and cannot be configuration, whatever is in it. Its message says why. */
class UnfitFile extends Error {}

/** UTF-8, or UTF-16 where a byte order mark says so; at most 4 MiB. */
export const readConfigFile: ReadText = async (path, isPointedAt = true) => {
  const file = await open(path, NEVER_WAITING);
  try {
    requireOrdinary(await file.stat(), isPointedAt);
    return toText(await readBytes(file));
  } finally {
    await file.close();
  }
};

/** Windows knows no such flag. */
const NEVER_WAITING = constants.O_RDONLY | ((constants as { O_NONBLOCK?: number }).O_NONBLOCK ?? 0);

function requireOrdinary(stats: Stats, isPointedAt: boolean): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new UnfitFile(READ_ERRORS['EISDIR']);
  const advice = isPointedAt ? '; give a file' : ', not a file';
  throw new UnfitFile(`is a ${stats.isFIFO() ? 'pipe' : 'device'}${advice}`);
}

async function readBytes(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // One byte past the limit tells a larger file from one that fits; `end` is inclusive.
  const stream = file.createReadStream({ end: LARGEST_BYTES, autoClose: false });
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (bytes.length <= LARGEST_BYTES) return bytes;
  throw new UnfitFile(`is larger than ${LARGEST_BYTES / 1024 / 1024} MiB, which no configuration should be`);
}

function toText(bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-8' && !isUtf8(bytes)) throw new UnfitFile('is not UTF-8 text; save it as UTF-8');
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}

/** Whether reading failed because there is no such file. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Why a file could not be read, from what reading it rejected with. */
export function readProblem(source: Source, error: unknown): ConfigProblem {
  if (error instanceof UnfitFile) return { source: sourceName(source), message: error.message };
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return { source: sourceName(source), message: READ_ERRORS[code] ?? `cannot be read (${code})` };
}

export function sourceName(source: Source): string {
  return source.display ?? source.id;
}

/**
 * The folder that relative paths in a source's entries start from: the project's for a file found in a project, the
 * host's for a file that somebody pointed at, which may lie anywhere.
 */
export function baseDirOf(source: Source, cwd: string): string {
  if (source.baseDir !== undefined) return source.baseDir;
  return source.scope === 'project' && source.path !== undefined ? dirname(source.path) : cwd;
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}
