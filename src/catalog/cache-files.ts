/**
 * Tool lists as files that only the user can read: one per entry, named after its key.
 *
 * F1. A file is written whole beside its place, with mode 0600 from its first byte, and then put there: whoever reads
 *     sees the old list or the new one, also where several processes write.
 * F2. A file that cannot be understood, is somebody else's or of a newer version is told as such, never used, and
 *     replaced by the next list.
 * F3. What nobody has written for as long as lists are used is removed with the first list that is written.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../make-folder.js';
import { parseJson } from '../parse-json.js';
import { systemClock } from '../ports.js';
import { readStored } from '../read-stored.js';
import { userFolder } from '../user-folder.js';
import { writePrivately } from '../write-privately.js';
import { OLDEST_MS, type CachedCatalog, type CatalogStore } from './cache-store.js';
import { isJsonObject } from './json-object.js';

export interface FileCatalogStoreOptions {
  /** Where the files are; made when first needed, for the user alone. Default: `catalogs` in Troupe's folder in the user's cache. */
  readonly folder?: string;
}

/** The version of the format that is written, and the newest that is read. */
const FORMAT = 1;
/** In bytes; a longer list is neither kept nor read, since reading it would cost more than asking its server. */
const LONGEST = 16 * 1024 * 1024;
const KEY = /^[0-9a-f]{64}$/;
/** A list, and the draft of one. */
const OURS = /^[0-9a-f]{64}\.json(\.[0-9a-f]+\.new)?$/;

/** Lists that outlive the process and are shared by all processes of the user. */
export function createFileCatalogStore(options: FileCatalogStoreOptions = {}): CatalogStore {
  let known = options.folder;
  const folder = async (): Promise<string> => (known ??= await defaultFolder());
  const fileOf = async (key: string): Promise<string> => join(await folder(), fileName(key));
  let isTidy = false;
  return {
    get: async (key) => readCatalog(await fileOf(key), key),
    put: async (key, { savedAt, tools }) => {
      const file = await fileOf(key);
      const text = JSON.stringify({ troupeCatalog: FORMAT, key, savedAt, tools });
      if (Buffer.byteLength(text) > LONGEST) {
        await rm(file, { force: true });
        throw new Error(`the list is longer than ${LONGEST / 1024 / 1024} MiB`);
      }
      const place = await folder();
      makeFolder(place);
      await writePrivately(file, text);
      if (!isTidy) await removeOld(place);
      isTidy = true;
    },
    delete: async (key) => rm(await fileOf(key), { force: true }),
  };
}

async function defaultFolder(): Promise<string> {
  const cache = await userFolder('cache').catch((cause: unknown) => {
    throw new Error("the user's cache has no absolute path; TROUPE_CACHE can name a folder", { cause });
  });
  return join(cache, 'catalogs');
}

function fileName(key: string): string {
  if (!KEY.test(key)) throw new TypeError('The key of a tool list has 64 hexadecimal digits.');
  return `${key}.json`;
}

async function readCatalog(file: string, key: string): Promise<CachedCatalog | undefined> {
  const text = await readStored(file, LONGEST);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  const format = isJsonObject(value) ? value['troupeCatalog'] : undefined;
  if (typeof format === 'number' && format > FORMAT) {
    throw new Error(`${file} was written by a newer version`);
  }
  const { savedAt, tools } = (value ?? {}) as Partial<CachedCatalog>;
  const isOurs = format === FORMAT && isJsonObject(value) && value['key'] === key;
  if (!isOurs || typeof savedAt !== 'number' || !Array.isArray(tools)) {
    throw new Error(`${file} is no list of tools that can be understood`);
  }
  return { savedAt, tools };
}

/** What cannot be removed is left. */
async function removeOld(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const old = systemClock.now() - OLDEST_MS;
  await Promise.allSettled(
    names
      .filter((name) => OURS.test(name))
      .map(async (name) => {
        const file = join(folder, name);
        if ((await stat(file)).mtimeMs < old) await rm(file, { force: true });
      }),
  );
}
