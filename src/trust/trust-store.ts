/**
 * Where the trusted entries of project files are remembered: the port, and a store that lives as long as the process.
 *
 * A trusted entry is identified by the hash of its request, so a changed entry must be trusted again.
 */
import type { TrustRequest } from './trust-request.js';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../errors.js';
import { makeFolder, watchFolder } from '../storage/folders.js';
import { quarantineFile, readStored, isAbsence, writeFileAtomic } from '../storage/stored-file.js';
import { parseJson } from '../json/parse-json.js';
import { isObject } from '../config/entry/read-shape.js';
import { storeFolder, type StoreHost } from '../config/files/user-store.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

/** What was trusted: enough to recognize it. */
export type TrustedEntry = Pick<TrustRequest, 'hash' | 'server' | 'source' | 'folder'>;

/**
 * Stores trusted entries. If a method rejects, the entry counts as not trusted and a `diagnostic` is published.
 * Processes that share a store must not remove what another one stored.
 */
export interface TrustStore {
  /**
   * Whether the request with this hash is trusted. Called before every attempt to start a server that needs trust.
   *
   * @param hash `hash` of the trust request.
   */
  has(hash: string): Promise<boolean> | boolean;
  /** All trusted entries. Called when the configuration is read. */
  list(): Promise<readonly TrustedEntry[]> | readonly TrustedEntry[];
  /**
   * Stores the trust in an entry. Trusting it again is no error.
   *
   * @param request What the person was shown. At least `hash`, `server`, `source` and `folder` must be stored.
   */
  trust(request: TrustRequest): Promise<void> | void;
  /**
   * Removes a trusted entry. No error if there is none.
   *
   * @param hash `hash` of the trust request.
   */
  revoke(hash: string): Promise<void> | void;
  /**
   * Calls `onChange` when another process has changed the trusted entries, until the returned function is called.
   * Without it, such a change counts for the next attempt.
   *
   * @param onChange Called without arguments. It may be called without a change.
   */
  watch?(onChange: () => void): () => void;
}

/**
 * Keeps trusted entries until the process ends.
 *
 * @example
 * ```ts
 * import { createMemoryTrustStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', trustStore: createMemoryTrustStore() });
 * ```
 */
export function createMemoryTrustStore(): TrustStore {
  const entries = new Map<string, TrustedEntry>();
  return {
    has: (hash) => entries.has(hash),
    list: () => [...entries.values()],
    trust: (request) => void entries.set(request.hash, toTrustedEntry(request)),
    revoke: (hash) => void entries.delete(hash),
  };
}

/** Without the fields that are only shown to the person. */
export function toTrustedEntry({ hash, server, source, folder }: TrustedEntry): TrustedEntry {
  return { hash, server, source, folder };
}

// Trusted entries as files that only the user can read: one for each entry, named after the hash of its request.
//
// F1. A file is written whole or not at all, and no two entries share one: processes can write at the same time without a
//     lock, and lose nothing.
// F2. A file that cannot be understood trusts nothing; reading it reports that. Trusting its request again renames it
//     first.

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
  if (!HASH.test(hash)) throw new TypeError('The hash of a trust request must have 64 hexadecimal digits.');
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
