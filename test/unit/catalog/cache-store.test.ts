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
import {
  createFileCatalogStore,
  createMemoryCatalogStore,
  type CatalogStore,
} from '../../../src/catalog/cache-store.js';
import { cacheProblem, toCatalogStore } from '../../../src/runtime/check-options.js';
import { userFolder } from '../../../src/storage/folders.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { stubUser } from '../../support/stub-user.js';

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
  it('returns the last list that was put under a key, until it is deleted.', async () => {
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
  it('is readable only by its user, and leaves only the lists.', async () => {
    const folder = fresh();
    const store = createFileCatalogStore({ folder });
    await Promise.all([store.put(KEY, LIST), store.put(KEY, LIST), store.put(OTHER, LIST)]);
    expect(readdirSync(folder).toSorted()).toEqual([`${KEY}.json`, `${OTHER}.json`]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('can be read by another store of the same folder during writes, and every list is complete.', async () => {
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
    ['cut off', JSON.stringify(good).slice(0, -20), /parsed/],
    ['empty', '', /parsed/],
    ['binary', '\0\u0001', /parsed/],
    ['other JSON', '[1, 2]', /parsed/],
    ['null', 'null', /parsed/],
    ['the list of another entry', JSON.stringify({ ...good, key: OTHER }), /parsed/],
    ['without a valid time', JSON.stringify({ ...good, savedAt: 'now' }), /parsed/],
    ['of a newer version', JSON.stringify({ ...good, troupeCatalog: 2 }), /newer/],
    ['too long', `"${'x'.repeat(17 * 1024 * 1024)}"`, /longer/],
  ])('refuses a file that is %s, and names it, until a list replaces it.', async (_, text, message) => {
    const folder = fresh();
    const store = createFileCatalogStore({ folder });
    await store.put(OTHER, LIST);
    writeFileSync(join(folder, `${KEY}.json`), text);
    await expect(store.get(KEY)).rejects.toThrow(message);
    await expect(store.get(KEY)).rejects.toThrow(join(folder, KEY));
    await store.put(KEY, LIST);
    expect(await store.get(KEY)).toEqual(LIST);
  });

  it('reads only files, since reading a pipe might never end.', async () => {
    const folder = fresh();
    mkdirSync(join(folder, `${KEY}.json`), { recursive: true });
    const store = createFileCatalogStore({ folder });
    await expect(store.get(KEY)).rejects.toThrow('not a file');
    await expect(store.get(KEY)).rejects.toThrow(join(folder, KEY));
  });

  it('keeps neither a list that is too long nor the former one.', async () => {
    const store = createFileCatalogStore({ folder: fresh() });
    await store.put(KEY, LIST);
    const long = tool('long', { description: 'x'.repeat(17 * 1024 * 1024) });
    await expect(store.put(KEY, { savedAt: 1, tools: [long] })).rejects.toThrow('16 MiB');
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

  it('deletes its files older than 30 days with its first write, but no other files.', async () => {
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

describe('the location of the cache', () => {
  it("is the user's cache folder by default.", async () => {
    stubUser({ cache: fresh() });
    try {
      await toCatalogStore(undefined, {})?.put(KEY, LIST);
      const file = join(await userFolder('cache'), 'catalogs', `${KEY}.json`);
      expect(readFileSync(file, 'utf8')).toContain('"read"');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('is never the working directory, even if the user has no cache folder.', async () => {
    stubUser({ cache: 'relative' });
    try {
      const store = createFileCatalogStore();
      await expect(store.get(KEY)).rejects.toThrow(/TROUPE_CACHE/);
      await expect(store.put(KEY, LIST)).rejects.toThrow(/TROUPE_CACHE/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('is set by the environment, and the host overrides it.', async () => {
    const folder = fresh();
    await toCatalogStore(undefined, { TROUPE_CACHE: folder })?.put(KEY, LIST);
    expect(readdirSync(folder)).toEqual([`${KEY}.json`]);
    expect(toCatalogStore(undefined, { TROUPE_CACHE: 'off' })).toBeUndefined();
    expect(toCatalogStore(false, { TROUPE_CACHE: folder })).toBeUndefined();
    const own = createMemoryCatalogStore();
    expect(toCatalogStore(own, { TROUPE_CACHE: 'off' })).toBe(own);
  });

  it.each([[true], ['/tmp'], [null], [{ get: () => {}, put: () => {} }]])(
    'must not be %j.',
    (option: unknown) => {
      expect(cacheProblem(option)).toBe(
        "expected false, or an object with the functions 'get', 'put' and 'delete'",
      );
    },
  );
});
