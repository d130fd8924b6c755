/** The sources of configuration, and how to read their text. */
import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { ConfigProblem } from '../../errors.js';
import { isFromEverybodys } from './project-root.js';
import type { Layout } from './layout.js';
import type { InputSpec, Scope } from '../entry/server-spec.js';
import type { ServerConfig } from '../entry/server-config.js';
import { reasonOf } from '../../text/error-message.js';

/** One place that may name servers. A text that is already available is not read from `path` again. */
export interface Source {
  /** Unique; for a file its absolute path. */
  readonly id: string;
  readonly scope: Scope;
  /** For messages, in a form that a person recognises. Default: `id`. */
  readonly display?: string;
  /** Absolute path of the file. */
  readonly path?: string;
  readonly text?: string;
  /** The structure of the file. Default: by the extension of its name, with any host's conventions. */
  readonly layout?: Layout;
  /** Absolute path of the folder in which its entries start. Default: the user's (see `start-folder.ts`). */
  readonly baseDir?: string;
  /** For a file that was looked for: the host whose conventions it follows. The file need not exist. */
  readonly kind?: string;
  /** Whether a file that the host named need not exist. Default false. */
  readonly isOptional?: boolean;
}

/** The servers of one source. */
export interface SourceEntries {
  readonly source: Source;
  readonly baseDir: string;
  readonly entries: ReadonlyMap<string, ServerConfig>;
  readonly refused: readonly string[];
  readonly problems: readonly ConfigProblem[];
  readonly inputs?: ReadonlyMap<string, InputSpec>;
  /** Names of servers in the project's `.mcp.json` that this source disables. */
  readonly turnedOff?: readonly string[];
  /** For entries whose trust is bound to contents: see `ServerSpec`. By name. */
  readonly contents?: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** How many servers of the file were not read, because it has more than the limit. Default: none. */
  readonly surplus?: number;
  /** The file could not be read at all; its problem says why. Default false. */
  readonly isUnread?: boolean;
}

/** The result of reading a source. */
export interface SourceReport {
  /** Path of the file, or `options` for the servers in the options of the troupe. */
  readonly id: string;
  /** Kind of the source: who controls it. */
  readonly scope: Scope;
  /** Absolute path of the file. Absent if the source is not a file. */
  readonly path?: string;
  /** Whether its servers could be read; single entries may still have been refused. */
  readonly ok: boolean;
  /** Why it could not be read. */
  readonly message?: string;
}

/**
 * Reads a whole file as text, or rejects as `node:fs` does. It must be an ordinary file, because reading a pipe or a
 * terminal may wait forever. If someone named the path, the message asks for a file.
 */
export type ReadText = (path: string, isPointedAt?: boolean) => Promise<string>;

const LARGEST_BYTES = 10 * 1024 * 1024;

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'may not be read (permission denied)',
  EPERM: 'may not be read (operation not permitted)',
  EISDIR: 'is a folder, not a file',
  ENOTDIR: 'cannot be reached: a part of its path is not a folder',
  ELOOP: 'cannot be reached: its links form a cycle',
  ENAMETOOLONG: 'cannot be read: its name is too long',
  ENXIO: 'is a socket or a device, not a file',
};

/** A file that was opened and cannot be configuration, whatever it contains. Its message says why. */
class UnfitFile extends Error {}

/** UTF-8, or UTF-16 if a byte order mark says so; at most 10 MiB. */
export const readConfigFile: ReadText = async (path, isPointedAt) =>
  toText(await readConfigBytes(path, isPointedAt));

/** The same without decoding. */
export async function readConfigBytes(path: string, isPointedAt = true): Promise<Buffer> {
  const file = await open(path, NEVER_WAITING);
  try {
    requireOrdinary(await file.stat(), isPointedAt);
    return await readBytes(file);
  } finally {
    await file.close();
  }
}

/**
 * Rejects for a file of a project in a folder that everybody can write to. Discovery looks for no project there, since
 * anybody may have put the file there, or files that its entries use.
 */
export async function requireOwnFolder(path: string): Promise<void> {
  if (!(await isFromEverybodys(path))) return;
  throw new UnfitFile(
    'is in a folder that everybody can write to, so it is not used as the file of a project; move it to a folder of your own',
  );
}

/** Windows has no such flag. */
const NEVER_WAITING = constants.O_RDONLY | ((constants as { O_NONBLOCK?: number }).O_NONBLOCK ?? 0);

function requireOrdinary(stats: Stats, isPointedAt: boolean): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new UnfitFile(READ_ERRORS['EISDIR']);
  const advice = isPointedAt ? '; give a file' : ', not a file';
  throw new UnfitFile(`is a ${stats.isFIFO() ? 'pipe' : 'device'}${advice}`);
}

async function readBytes(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // One byte past the limit distinguishes a larger file from one that fits; `end` is inclusive.
  const stream = file.createReadStream({ end: LARGEST_BYTES, autoClose: false });
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (bytes.length <= LARGEST_BYTES) return bytes;
  throw new UnfitFile(`is larger than ${LARGEST_BYTES / 1024 / 1024} MiB, too large for a configuration`);
}

function toText(bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-8' && !isUtf8(bytes)) throw new UnfitFile('is not UTF-8 text; save it as UTF-8');
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}

/** Why a file could not be read, from the error of reading it. */
export function readProblem(source: Source, error: unknown): ConfigProblem {
  const unreadable = { code: 'file-unreadable', source: sourceName(source) } as const;
  if (error instanceof UnfitFile) return { ...unreadable, message: error.message };
  const reason = reasonOf(error);
  const message = READ_ERRORS[reason] ?? `cannot be read (${reason})`;
  return { ...unreadable, ...(reason === 'ENOENT' && { code: 'file-not-found' }), message };
}

export function sourceName(source: Source): string {
  return source.display ?? source.id;
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}
