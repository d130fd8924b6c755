/**
 * Sign-ins as files that only the user can read: one per server address and client.
 *
 * F1. A file is written whole beside its place, with mode 0600 from its first byte, and then put there: whoever reads
 *     sees the old sign-in or the new one.
 * F2. A file that cannot be understood counts as none.
 * F3. Names of files tell the host of the server and nothing else of its address.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../config/read-shape.js';
import { makeFolder } from '../make-folder.js';
import { parseJson } from '../parse-json.js';
import { systemClock } from '../ports.js';
import { readStored } from '../read-stored.js';
import { userFolder } from '../user-folder.js';
import { watchFolder } from '../watch-folder.js';
import { writePrivately } from '../write-privately.js';
import { ownerKey, type StoredSignIn, type TokenOwner, type TokenStore } from './token-store.js';
import { Turns } from './turns.js';

export interface FileTokenStoreOptions {
  /** Where the files are; made when first needed, for the user alone. Default: `sign-ins` in the user's data folder. */
  readonly folder?: string;
}

/** Sign-ins that outlive the process and are shared by all processes of the user. */
export function createFileTokenStore(options: FileTokenStoreOptions = {}): TokenStore {
  const turns = new Turns();
  const folder = async (): Promise<string> => options.folder ?? defaultFolder();
  const fileOf = async (owner: TokenOwner): Promise<string> => join(await folder(), fileName(owner));
  /** Its folder is there when this resolves. */
  const placeOf = async (owner: TokenOwner): Promise<string> => {
    makeFolder(await folder());
    return fileOf(owner);
  };

  return {
    read: async (owner) => readSignIn(await fileOf(owner)),
    write: async (owner, signIn) => writePrivately(await placeOf(owner), JSON.stringify(signIn, null, 2)),
    forget: async (owner) => rm(await fileOf(owner), { force: true }),
    exclusively: (owner, work, signal) =>
      turns.take(
        ownerKey(owner),
        async () => {
          const { withLock } = await import('./lock-file.js');
          return withLock(`${await placeOf(owner)}.lock`, work, { clock: systemClock, signal });
        },
        signal,
      ),
    // Without a watch the change is found at the next attempt.
    watch: (owner, onChange) => {
      const name = fileName(owner);
      return watchFolder(folder(), (file) => {
        if (file === null || file === name) onChange();
      });
    },
  };
}

/** The folder of the user's data that Troupe keeps sign-ins in. */
async function defaultFolder(): Promise<string> {
  return join(await userFolder('data'), 'sign-ins');
}

function fileName(owner: TokenOwner): string {
  const hash = createHash('sha256').update(ownerKey(owner)).digest('hex').slice(0, 24);
  const host = new URL(owner.server).hostname.replace(/[^a-zA-Z0-9.-]/g, '_').slice(0, 60);
  return `${host}-${hash}.json`;
}

async function readSignIn(file: string): Promise<StoredSignIn | undefined> {
  const text = await readStored(file);
  const value = text === undefined ? undefined : parseJson(text);
  return isObject(value) ? value : undefined;
}
