/**
 * Trusted entries as files that only the user can read: one for each entry, named after the hash of its request.
 *
 * F1. A file is written whole or not at all, and no two entries share one: processes can write at the same time without a
 *     lock, and lose nothing.
 * F2. A file that cannot be understood trusts nothing; reading it reports that. Trusting its request again renames it
 *     first.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../errors.js';
import { makeFolder } from '../storage/make-folder.js';
import { quarantineFile, readStored, isAbsence } from '../storage/stored-file.js';
import { parseJson } from '../json/parse-json.js';
import { watchFolder } from '../storage/watch-folder.js';
import { writeFileAtomic } from '../storage/write-file-atomic.js';
import { toTrustedEntry, type TrustedEntry, type TrustStore } from './trust-store.js';
import { isObject } from '../config/entry/read-shape.js';
import { storeFolder, type StoreHost } from '../config/files/user-store.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

/** Options of `createFileTrustStore`. */
export interface FileTrustStoreOptions extends StoreHost {
  /**
   * Folder of the files; created when first needed, readable by the user alone. Default: `trusted` in
   * Troupe's folder of the user's configuration, which the `troupe` command uses too. Unlike a folder that is named here, the
   * default is not used if it lies inside the project that the host works in.
   */
  readonly folder?: string;
}

const NAMES: OptionNames<FileTrustStoreOptions> = { folder: true, cwd: true };

const HASH = /^[0-9a-f]{64}$/;

/**
 * Keeps trusted entries in files that all processes of the user share, including the `troupe` command. Methods
 * reject as `node:fs` does if the files cannot be used.
 *
 * @param options The folder of the files. Default: `trusted` in Troupe's configuration folder.
 *
 * @example
 * ```ts
 * import { createFileTrustStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', trustStore: createFileTrustStore() });
 * ```
 */
export function createFileTrustStore(options: FileTrustStoreOptions = {}): TrustStore {
  requireKnown('createFileTrustStore', options, NAMES);
  const folder = storeFolder(options, 'config', 'trusted');
  const fileOf = async (hash: string): Promise<string> => join(await folder(), fileName(hash));
  return {
    has: async (hash) => (await readTrusted(await fileOf(hash), hash)) !== undefined,
    list: async () => readAll(await folder()),
    trust: async (request) => {
      const file = await fileOf(request.hash);
      makeFolder(await folder());
      await readTrusted(file, request.hash).catch(() => quarantineFile(file));
      await writeFileAtomic(file, `${JSON.stringify(toTrustedEntry(request), null, 2)}\n`);
    },
    revoke: async (hash) => rm(await fileOf(hash), { force: true }),
    // Without a watch the entry is found at the next attempt.
    watch: (onChange) =>
      watchFolder(folder(), (file) => {
        if (file === null || file.endsWith('.json')) onChange();
      }),
  };
}

function fileName(hash: string): string {
  if (!HASH.test(hash)) throw new TypeError('The hash of a trust request has 64 hexadecimal digits.');
  return `${hash}.json`;
}

/** Leaves out files that cannot be understood: `has` rejects for such a file. */
async function readAll(folder: string): Promise<readonly TrustedEntry[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isAbsence(error)) return [];
    throw error;
  });
  const hashes = names.flatMap((name) => (name.endsWith('.json') ? name.slice(0, -'.json'.length) : []));
  const entries = await Promise.all(
    hashes
      .filter((hash) => HASH.test(hash))
      .map((hash) => readTrusted(join(folder, fileName(hash)), hash).catch(() => undefined)),
  );
  return entries.flatMap((entry) => entry ?? []);
}

/** Undefined if there is no file. Rejects if the file holds no trusted entry. */
async function readTrusted(file: string, hash: string): Promise<TrustedEntry | undefined> {
  const text = await readStored(file);
  if (text === undefined) return undefined;
  const entry = parseTrusted(text);
  if (entry?.hash === hash) return entry;
  throw new ConfigError(
    `${file} cannot be understood as a trusted entry, so it trusts nothing; trust the server again, which keeps the file under another name`,
  );
}

function parseTrusted(text: string): TrustedEntry | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { hash, server, source, folder } = value;
  const texts = [hash, server, source, folder];
  return texts.every((one) => typeof one === 'string')
    ? toTrustedEntry({ hash, server, source, folder } as TrustedEntry)
    : undefined;
}
