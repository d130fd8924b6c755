/**
 * Keeps whole results in files that only the user can read, until the host exits.
 *
 * S1. The folder is created when first needed, for the user alone; the names of its files cannot be guessed.
 * S2. `close` removes everything; without `close`, the exit of the process does. If a host was killed, the next host
 *     that keeps a result removes its files.
 * S3. It holds at most `MAX_KEPT_BYTES`, or one file: the oldest files are removed.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasExited, currentProcess } from '../storage/lock-file.js';
import { atExit } from '../async/exit-hook.js';
import { writeFileAtomic } from '../storage/stored-file.js';

/** Keeps a whole text elsewhere. */
export interface SpillPort {
  /**
   * Resolves with the name under which a model or a person finds the text. A rejection loses the text and nothing else.
   *
   * @param text The whole text, without a boundary.
   */
  write(text: string): Promise<string>;
}

const MAX_KEPT_BYTES = 256 * 2 ** 20;

export class SpillFolder implements SpillPort {
  #folder: string | undefined;
  #forgetExit: (() => void) | undefined;
  #isClosed = false;
  /** One file after the other. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #kept: { readonly file: string; readonly bytes: number }[] = [];

  constructor(private readonly mostBytes = MAX_KEPT_BYTES) {}

  write(text: string): Promise<string> {
    const written = this.#last.then(() => this.#write(text));
    this.#last = written.catch(() => {});
    return written;
  }

  /** Removes all files; later writes reject. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    this.#forgetExit?.();
    this.#forgetExit = undefined;
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true }).catch(() => {});
  }

  async #write(text: string): Promise<string> {
    if (this.#isClosed) throw new Error('Results are no longer kept.');
    const bytes = Buffer.byteLength(text);
    await this.#makeRoom(bytes);
    const file = await this.#put(text);
    this.#kept.push({ file, bytes });
    return file;
  }

  async #makeRoom(bytes: number): Promise<void> {
    let held = this.#kept.reduce((sum, kept) => sum + kept.bytes, bytes);
    while (held > this.mostBytes) {
      const oldest = this.#kept.shift();
      if (oldest === undefined) return;
      held -= oldest.bytes;
      await rm(oldest.file, { force: true });
    }
  }

  async #put(text: string): Promise<string> {
    try {
      return await this.#putInto(await this.#open(), text);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // The folder for temporary files was cleared meanwhile.
      this.#folder = undefined;
      return this.#putInto(await this.#open(), text);
    }
  }

  async #putInto(folder: string, text: string): Promise<string> {
    const file = join(folder, `${randomBytes(16).toString('hex')}.txt`);
    await writeFileAtomic(file, text);
    return file;
  }

  async #open(): Promise<string> {
    this.#forgetExit ??= atExit(() => this.#removeNow());
    return (this.#folder ??= await makeFolder());
  }

  #removeNow(): void {
    if (this.#folder === undefined) return;
    try {
      rmSync(this.#folder, { recursive: true, force: true });
    } catch {
      // The process ends, so there is nobody to report to.
    }
  }
}

/** Creates the folder; its name identifies the process. */
async function makeFolder(): Promise<string> {
  const { pid, host } = currentProcess();
  const suffix = `@${encodeURIComponent(host)}-`;
  await removeLeftFolders(suffix, host);
  return mkdtemp(join(tmpdir(), `troupe-results-${pid}${suffix}`));
}

/** Removes folders of ended processes of this machine. A folder that cannot be removed, such as another user's, stays. */
async function removeLeftFolders(suffix: string, host: string): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = /^troupe-results-(\d+)@/.exec(name)?.[1];
    if (pid === undefined || !name.startsWith(suffix, name.indexOf('@'))) continue;
    if (hasExited({ pid: Number(pid), host }))
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
  }
}

let ofProcess: SpillFolder | undefined;

/** The folder for results that belong to no troupe; removed when the process exits. */
export function processFolder(): SpillFolder {
  return (ofProcess ??= new SpillFolder());
}
