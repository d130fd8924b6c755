/**
 * Reads a file that grows, as `tail -F` does: what was added since the last read, over rotations and restarts of its writer.
 *
 * T1. It only reads when it is asked to: it has no timer and no watch, and works on every file system.
 * T2. A file that was renamed is read to its end before the next one, which may have been renamed as well (`PATH.1`,
 *     `PATH.2`). A file that is not there yet, or no longer, is nothing to read.
 * T3. A file that became shorter was written anew, and is read from its start.
 */
import { open, stat, type FileHandle } from 'node:fs/promises';
import { codeOf } from '../../text/error-message.js';

/** `begin`: another file begins, or the same one anew. */
export type TailRead =
  { readonly type: 'begin' } | { readonly type: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> };

const CHUNK_BYTES = 1_024 * 1_024;
/** Number of renamed files to look for. A recording keeps 20 by default. */
const MAX_RENAMED = 1_000;
/** How often the next file is looked for again, if files are renamed meanwhile. */
const MAX_TRIES = 10;

interface Current {
  readonly handle: FileHandle;
  readonly id: string;
}

export class FileTail {
  readonly #path: string;
  #current: Current | undefined;
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined if there is nothing new at present. Rejects as `node:fs` does, but not if there is no file. */
  async read(): Promise<TailRead | undefined> {
    if (this.#current === undefined) return this.#begin(await opened(this.#path));
    const bytes = (await this.#more()) ?? (await this.#moreAfterRename());
    return bytes;
  }

  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.handle.close();
  }

  #begin(next: Current | undefined): TailRead | undefined {
    if (next === undefined) return undefined;
    this.#current = next;
    this.#offset = 0;
    return { type: 'begin' };
  }

  async #more(): Promise<TailRead | undefined> {
    const { handle } = this.#current as Current;
    const { bytesRead, buffer } = await handle.read(
      new Uint8Array(CHUNK_BYTES),
      0,
      CHUNK_BYTES,
      this.#offset,
    );
    if (bytesRead > 0) {
      this.#offset += bytesRead;
      return { type: 'bytes', bytes: buffer.subarray(0, bytesRead) };
    }
    if ((await handle.stat()).size >= this.#offset) return undefined;
    this.#offset = 0;
    return { type: 'begin' };
  }

  async #moreAfterRename(): Promise<TailRead | undefined> {
    const { id, handle } = this.#current as Current;
    const there = await idAt(this.#path);
    if (there === undefined || there === id) return undefined;
    // Something may have been written between the last read and the renaming.
    const rest = await this.#more();
    if (rest !== undefined) return rest;
    const next = await this.#next(id);
    if (next === undefined) return undefined;
    await handle.close();
    return this.#begin(next);
  }

  /** The file that follows the one with that identity. */
  async #next(id: string): Promise<Current | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const number = await this.#numberOf(id);
      const next = await opened(
        number === undefined || number < 2 ? this.#path : `${this.#path}.${number - 1}`,
      );
      if (next?.id !== id && (number === undefined || (await idAt(`${this.#path}.${number}`)) === id))
        return next;
      await next?.handle.close();
    }
    return undefined;
  }

  /** The number that the file with that identity has got; undefined if it is gone. */
  async #numberOf(id: string): Promise<number | undefined> {
    for (let number = 1; number <= MAX_RENAMED; number += 1) {
      const found = await idAt(`${this.#path}.${number}`);
      if (found === id) return number;
      if (found === undefined) return undefined;
    }
    return undefined;
  }
}

/** Undefined if there is no file. Rejects for what is not a file. */
async function opened(path: string): Promise<Current | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw new Error('it is not a file, so it cannot be followed');
    return { handle, id: `${stats.dev} ${stats.ino}` };
  } catch (error) {
    await handle?.close();
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Undefined if there is no file. */
async function idAt(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
