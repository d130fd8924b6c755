import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFileCatalogStore } from '../../../src/catalog/cache-files.js';
import { cacheProblem, toCatalogStore } from '../../../src/runtime/cache-option.js';
import { createMemoryCatalogStore, type CatalogStore } from '../../../src/catalog/cache-store.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';

useLeakCheck();

const KEY = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);
const LIST = { savedAt: 1_000, tools: [tool('read'), tool('write', { title: 'W' })] };
const OLD_S = Date.now() / 1_000 - 31 * 24 * 60 * 60;

let root: string;
let count = 0;
const fresh = (): string => join(root, String((count += 1)), 'below');
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'troupe-catalogs-'));
});
afterAll(() => rmSync(root, { recursive: true }));

const STORES: readonly (readonly [string, () => CatalogStore])[] = [
  ['memory', () => createMemoryCatalogStore()],
  ['files', () => createFileCatalogStore({ folder: fresh() })],
];

describe.each(STORES)('a store in %s', (_, make) => {
  it('gives back what was put under a key, the last of it, until it is deleted.', async () => {
    const store = make();
    expect(await store.get(KEY)).toBeUndefined();
    await store.put(KEY, { savedAt: 1, tools: [tool('old')] });
    await store.put(KEY, LIST);
    expect(await store.get(KEY)).toEqual(LIST);
    expect(await store.get(OTHER)).toBeUndefined();
    await store.delete(KEY);
    await store.delete(KEY);
    expect(await store.get(KEY)).toBeUndefined();
  });
});

describe('a store in files', () => {
  it('is for its user alone, and leaves nothing beside the lists.', async () => {
    const folder = fresh();
    const store = createFileCatalogStore({ folder });
    await Promise.all([store.put(KEY, LIST), store.put(KEY, LIST), store.put(OTHER, LIST)]);
    expect(readdirSync(folder).toSorted()).toEqual([`${KEY}.json`, `${OTHER}.json`]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('is read by another store of the same folder while it is written, and whole each time.', async () => {
    const folder = fresh();
    const [writer, reader] = [createFileCatalogStore({ folder }), createFileCatalogStore({ folder })];
    const lists = [1, 2].map((savedAt) => ({
      savedAt,
      tools: Array.from({ length: savedAt * 500 }, (_, index) => tool(`t${index}`)),
    }));
    await writer.put(KEY, lists[0]!);
    for (let round = 0; round < 10; round += 1) {
      const [read] = await Promise.all([reader.get(KEY), writer.put(KEY, lists[round % 2]!)]);
      expect(read?.tools).toHaveLength((read?.savedAt ?? 0) * 500);
    }
  });

  const good = { troupeCatalog: 1, key: KEY, ...LIST };
  it.each([
    ['cut off', JSON.stringify(good).slice(0, -20), /cannot be parsed as a list of tools/],
    ['empty', '', /cannot be parsed as a list of tools/],
    ['binary', '\0\u0001', /cannot be parsed as a list of tools/],
    ['something else', '[1, 2]', /cannot be parsed as a list of tools/],
    ['null', 'null', /cannot be parsed as a list of tools/],
    ['the list of another entry', JSON.stringify({ ...good, key: OTHER }), /cannot be parsed/],
    ['without its time', JSON.stringify({ ...good, savedAt: 'now' }), /cannot be parsed/],
    ['of a newer version', JSON.stringify({ ...good, troupeCatalog: 2 }), /by a newer version/],
    ['too long', `"${'x'.repeat(17 * 1024 * 1024)}"`, /is longer than/],
  ])('refuses a file that is %s, by name, until a list replaces it.', async (_, text, message) => {
    const folder = fresh();
    const store = createFileCatalogStore({ folder });
    await store.put(OTHER, LIST);
    writeFileSync(join(folder, `${KEY}.json`), text);
    await expect(store.get(KEY)).rejects.toThrow(message);
    await expect(store.get(KEY)).rejects.toThrow(join(folder, KEY));
    await store.put(KEY, LIST);
    expect(await store.get(KEY)).toEqual(LIST);
  });

  it('reads nothing but a file, since what waits for a writer would never end.', async () => {
    const folder = fresh();
    mkdirSync(join(folder, `${KEY}.json`), { recursive: true });
    const store = createFileCatalogStore({ folder });
    await expect(store.get(KEY)).rejects.toThrow(/is not a file/);
    await expect(store.get(KEY)).rejects.toThrow(join(folder, KEY));
  });

  it('keeps no list that is too long, nor the one before it.', async () => {
    const store = createFileCatalogStore({ folder: fresh() });
    await store.put(KEY, LIST);
    const long = tool('long', { description: 'x'.repeat(17 * 1024 * 1024) });
    await expect(store.put(KEY, { savedAt: 1, tools: [long] })).rejects.toThrow('longer than 16 MiB');
    expect(await store.get(KEY)).toBeUndefined();
  });

  it('rejects if it cannot write, and refuses a key that could be a path.', async () => {
    const folder = fresh();
    const file = join(root, `file-${(count += 1)}`);
    writeFileSync(file, '');
    const store = createFileCatalogStore({ folder: join(file, 'below') });
    await expect(store.put(KEY, LIST)).rejects.toThrow();
    expect(await store.get(KEY)).toBeUndefined();
    await expect(createFileCatalogStore({ folder }).get('../../etc/passwd')).rejects.toThrow(TypeError);
  });

  it('removes, with its first list, files older than 30 days, but no foreign ones.', async () => {
    const folder = fresh();
    const first = createFileCatalogStore({ folder });
    await first.put(KEY, LIST);
    const draft = `${OTHER}.json.0123456789ab.new`;
    for (const name of [draft, 'notes.txt']) writeFileSync(join(folder, name), 'x');
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), OLD_S, OLD_S);
    await createFileCatalogStore({ folder }).put(OTHER, LIST);
    expect(readdirSync(folder).toSorted()).toEqual([`${OTHER}.json`, 'notes.txt']);
  });
});

describe('the place of the lists', () => {
  it('is in the cache of the user unless somebody says otherwise.', async () => {
    const cache = fresh();
    vi.stubEnv('XDG_CACHE_HOME', cache);
    try {
      await toCatalogStore(undefined, {})?.put(KEY, LIST);
    } finally {
      vi.unstubAllEnvs();
    }
    expect(readFileSync(join(cache, 'troupe', 'catalogs', `${KEY}.json`), 'utf8')).toContain('"read"');
  });

  it('is never in the working directory, where the user has no cache.', async () => {
    vi.stubEnv('XDG_CACHE_HOME', 'relative');
    try {
      const store = createFileCatalogStore();
      await expect(store.get(KEY)).rejects.toThrow(/TROUPE_CACHE/);
      await expect(store.put(KEY, LIST)).rejects.toThrow(/TROUPE_CACHE/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('is where the environment says, and what the host says wins.', async () => {
    const folder = fresh();
    await toCatalogStore(undefined, { TROUPE_CACHE: folder })?.put(KEY, LIST);
    expect(readdirSync(folder)).toEqual([`${KEY}.json`]);
    expect(toCatalogStore(undefined, { TROUPE_CACHE: 'off' })).toBeUndefined();
    expect(toCatalogStore(false, { TROUPE_CACHE: folder })).toBeUndefined();
    const own = createMemoryCatalogStore();
    expect(toCatalogStore(own, { TROUPE_CACHE: 'off' })).toBe(own);
  });

  it.each([[true], ['/tmp'], [null], [{ get: () => {}, put: () => {} }]])(
    'cannot be %j.',
    (option: unknown) => {
      expect(cacheProblem(option)).toBe(
        "expected false, or an object with the functions 'get', 'put' and 'delete'",
      );
    },
  );
});
