/**
 * Sign-ins as files that only the user can read: one per server address and client.
 *
 * F1. A file is written beside its place, with mode 0600 from its first byte, and then renamed into place: a reader
 *     sees the old sign-in or the new one.
 * F2. A file that cannot be parsed counts as missing.
 * F3. The name of a file holds the host of the server and no other part of its address.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../config/entry/read-shape.js';
import { storeFolder, type StoreHost } from '../../config/files/user-store.js';
import { makeFolder, watchFolder } from '../../storage/folders.js';
import { parseJson } from '../../json/parse-json.js';
import { systemClock } from '../../ports.js';
import { readStored, writeFileAtomic } from '../../storage/stored-file.js';
import { ownerKey, type StoredSignIn, type TokenOwner, type TokenStore } from './token-store.js';
import { Mutex } from '../../async/semaphore.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';

/** Options of `createFileTokenStore`. */
export interface FileTokenStoreOptions extends StoreHost {
  /**
   * Folder of the files; created when first needed, readable by the user alone. Default: `sign-ins` in the
   * user's data folder. Unlike a folder that is named here, the default is not used if it lies inside the project that the
   * host works in.
   */
  readonly folder?: string;
}

const NAMES: OptionNames<FileTokenStoreOptions> = { folder: true, cwd: true };

/**
 * Keeps sign-ins in files that all processes of the user share. Methods reject as `node:fs` does if the files
 * cannot be used.
 *
 * @param options The folder of the files. Default: `sign-ins` in the user's data folder.
 *
 * @example
 * ```ts
 * import { createFileTokenStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', auth: { store: createFileTokenStore() } });
 * ```
 */
export function createFileTokenStore(options: FileTokenStoreOptions = {}): TokenStore {
  requireKnown('createFileTokenStore', options, NAMES);
  const turns = new Mutex();
  const folder = storeFolder(options, 'data', 'sign-ins');
  const fileOf = async (owner: TokenOwner): Promise<string> => join(await folder(), fileName(owner));
  /** The path of the owner's file; creates the folder. */
  const placeOf = async (owner: TokenOwner): Promise<string> => {
    makeFolder(await folder());
    return fileOf(owner);
  };

  return {
    read: async (owner) => readSignIn(await fileOf(owner)),
    write: async (owner, signIn) => writeFileAtomic(await placeOf(owner), JSON.stringify(signIn, null, 2)),
    forget: async (owner) => rm(await fileOf(owner), { force: true }),
    exclusively: (owner, work, signal) =>
      turns.take(
        ownerKey(owner),
        async () => {
          const { withLock } = await import('../../storage/lock-file.js');
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
