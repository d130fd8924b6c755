/**
 * Where the lists of servers are kept from one run to the next: the port, and a store in memory. `cache.ts` decides what
 * is kept and what may be used.
 */
import type { Resource } from '../mcp/content.js';
import type { Prompt, ResourceTemplate, Tool } from '../mcp/server-offers.js';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { storeFolder, type StoreHost, type StoreFolder } from '../config/files/user-store.js';
import { ConfigError } from '../errors.js';
import { makeFolder } from '../storage/folders.js';
import { FILE_LIMITS, parseJson } from '../json/parse-json.js';
import { systemClock } from '../ports.js';
import { readStored, writeFileAtomic } from '../storage/stored-file.js';
import { isJsonObject } from '../json/json-object.js';
import { messageOf } from '../text/error-message.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

/** How long a list may be used, milliseconds: 30 days. */
export const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000;

/** The lists of a server as it gave them, checked. */
export interface CachedCatalog {
  /** When the server gave them, milliseconds since the epoch. */
  readonly savedAt: number;
  /** The tools in the server's order, as MCP defines them. */
  readonly tools: readonly Tool[];
  /** Its resources. Absent if it was not asked for them yet. */
  readonly resources?: readonly Resource[];
  /** Its resource templates. Absent if it was not asked for them yet. */
  readonly resourceTemplates?: readonly ResourceTemplate[];
  /** Its prompts. Absent if it was not asked for them yet. */
  readonly prompts?: readonly Prompt[];
  /** Which era of the protocol it speaks. Absent if the entry says that, or if it is not known. */
  readonly spoken?: {
    /** `new`: MCP 2026-07-28. */
    readonly era: 'old' | 'new';
    /** When that was found out, milliseconds since the epoch. */
    readonly since: number;
  };
}

/**
 * Stores the lists of servers. A key has 64 hexadecimal digits; it identifies an entry, and what the host can do for the
 * server, without revealing them. If a method throws, a `diagnostic` is published. A slow store delays a start by at most
 * one second.
 */
export interface CatalogStore {
  /**
   * The stored lists; undefined if there are none. Rejects if the stored data is something else.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   */
  get(key: string): Promise<CachedCatalog | undefined>;
  /**
   * Stores lists in place of the former ones.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   * @param catalog All lists; they replace the former ones.
   */
  put(key: string, catalog: CachedCatalog): Promise<void>;
  /**
   * Deletes the lists. No error if there are none.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   */
  delete(key: string): Promise<void>;
}

/**
 * Keeps the lists of servers until the process ends. One store can serve several troupes of a process, one after
 * the other.
 *
 * @example
 * ```ts
 * import { createMemoryCatalogStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', cache: createMemoryCatalogStore() });
 * ```
 */
export function createMemoryCatalogStore(): CatalogStore {
  const byKey = new Map<string, CachedCatalog>();
  return {
    get: async (key) => byKey.get(key),
    put: async (key, catalog) => void byKey.set(key, catalog),
    delete: async (key) => void byKey.delete(key),
  };
}

// The lists of servers as files that only the user can read: one per server, named after its key.
//
// F1. A file is written next to its final path, with mode 0600 from its first byte, and then renamed into place: a reader
//     sees the old list or the new one, even if several processes write.
// F2. A file that cannot be parsed, belongs to another user or has a newer format is reported, never used, and replaced
//     by the next list.
// F3. The first list that is written removes files older than the longest time that a list is used.

/** Options of `createFileCatalogStore`. */
export interface FileCatalogStoreOptions extends StoreHost {
  /**
   * Folder of the files; created when first needed, readable by the user alone. Default: `catalogs` in
   * Troupe's folder of the user's cache. Unlike a folder that is named here, the default is not used if it lies inside the
   * project that the host works in.
   */
  readonly folder?: string;
}

const NAMES: OptionNames<FileCatalogStoreOptions> = { folder: true, cwd: true };

/** The version of the format: the one that is written, and the newest that is read. */
const FORMAT = 1;
/** Bytes. A longer list is neither stored nor read, since reading it would cost more than asking its server. */
const LONGEST = 16 * 1024 * 1024;
const KEY = /^[0-9a-f]{64}$/;
/** The names of a list and of its draft. */
const OURS = /^[0-9a-f]{64}\.json(\.[0-9a-f]+\.new)?$/;

/**
 * Keeps the lists of servers in files that all processes of the user share. Methods reject as `node:fs` does if the
 * files cannot be used.
 *
 * @param options The folder of the files. Default: `catalogs` in Troupe's folder of the user's cache.
 *
 * @example
 * ```ts
 * import { createFileCatalogStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', cache: createFileCatalogStore({ folder: '/var/cache/my-host' }) });
 * ```
 */
export function createFileCatalogStore(options: FileCatalogStoreOptions = {}): CatalogStore {
  requireKnown('createFileCatalogStore', options, NAMES);
  const folder = storeFolder(options, 'cache', 'catalogs');
  return fileCatalogStore(() => folder().catch(withAdvice));
}

/** See `createFileCatalogStore`. */
export function fileCatalogStore(folder: StoreFolder): CatalogStore {
  const fileOf = async (key: string): Promise<string> => join(await folder(), fileName(key));
  let isTidy = false;
  return {
    get: async (key) => readCatalog(await fileOf(key), key),
    put: async (key, catalog) => {
      const file = await fileOf(key);
      const text = JSON.stringify({ troupeCatalog: FORMAT, key, ...catalog });
      if (Buffer.byteLength(text) > LONGEST) {
        await rm(file, { force: true });
        throw new Error(`its lists are longer than ${LONGEST / 1024 / 1024} MiB`);
      }
      const place = await folder();
      makeFolder(place);
      await writeFileAtomic(file, text);
      if (isTidy) return;
      isTidy = true;
      await removeOld(place);
    },
    delete: async (key) => rm(await fileOf(key), { force: true }),
  };
}

function withAdvice(cause: unknown): never {
  throw new ConfigError(`${messageOf(cause)}, or name a folder in TROUPE_CACHE`, { cause });
}

function fileName(key: string): string {
  if (!KEY.test(key)) throw new TypeError('The key of a tool list must have 64 hexadecimal digits.');
  return `${key}.json`;
}

async function readCatalog(file: string, key: string): Promise<CachedCatalog | undefined> {
  const text = await readStored(file, LONGEST);
  if (text === undefined) return undefined;
  const value = parseJson(text, FILE_LIMITS);
  const format = isJsonObject(value) ? value['troupeCatalog'] : undefined;
  if (typeof format === 'number' && format > FORMAT) {
    throw new Error(`${file} was written by a newer version`);
  }
  const { troupeCatalog: _, key: named, ...catalog } = isJsonObject(value) ? value : {};
  const { savedAt, tools } = catalog;
  if (format !== FORMAT || named !== key || typeof savedAt !== 'number' || !Array.isArray(tools)) {
    throw new Error(`${file} cannot be parsed as the lists of a server`);
  }
  return { ...catalog, savedAt, tools };
}

/** A file that cannot be removed stays. */
async function removeOld(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const old = systemClock.now() - MAX_AGE_MS;
  await Promise.allSettled(
    names
      .filter((name) => OURS.test(name))
      .map(async (name) => {
        const file = join(folder, name);
        if ((await stat(file)).mtimeMs < old) await rm(file, { force: true });
      }),
  );
}
