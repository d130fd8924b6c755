import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createFileReviewStore,
  createMemoryReviewStore,
  type ReviewStore,
} from '../../../src/review/review-store.js';
import { toReviewed } from '../../../src/catalog/tool-fingerprint.js';
import type { ReviewedTool } from '../../../machines/policy/review.js';
import { useInotify } from '../../support/inotify.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { userFolder } from '../../../src/storage/folders.js';
import { stubUser } from '../../support/stub-user.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

const FS = { server: 'fs', hash: 'a'.repeat(64) };
const DB = { server: 'db', hash: 'b'.repeat(64) };
const READ = toReviewed(tool('read'));
const WRITE = toReviewed(tool('write'));
const CHANGED = toReviewed(tool('read', { description: 'another' }));

useInotify();

let root: string;
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'troupe-reviews-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
const newFolder = (): string => join(root, String((folders += 1)), 'reviews');

const byName = (tools: readonly ReviewedTool[]): readonly ReviewedTool[] =>
  tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
const baselineOf = async (store: ReviewStore, first: readonly ReviewedTool[] = []) =>
  byName(await store.baseline(FS, first));

describe.each<[kind: string, make: () => ReviewStore]>([
  ['in memory', createMemoryReviewStore],
  ['in files', () => createFileReviewStore({ folder: newFolder() })],
])('a store %s', (_, make) => {
  useLeakCheck();

  it('keeps the first list of a server, and no later one.', async () => {
    const store = make();
    expect(await baselineOf(store, [READ])).toEqual([READ]);
    expect(await baselineOf(store, [CHANGED, WRITE])).toEqual([READ]);
    expect(await store.baseline(DB, [WRITE])).toEqual([WRITE]);
  });

  it('has the last acceptance of each tool, and keeps the others.', async () => {
    const store = make();
    await baselineOf(store, [READ]);
    await store.accept(FS, [CHANGED]);
    await store.accept(FS, [WRITE]);
    expect(await baselineOf(store)).toEqual([CHANGED, WRITE]);
    await store.accept(FS, [READ]);
    expect(await baselineOf(store)).toEqual([READ, WRITE]);
  });

  it('treats a server with accepted tools as known.', async () => {
    const store = make();
    await store.accept(FS, [READ]);
    expect(await baselineOf(store, [WRITE])).toEqual([READ]);
  });

  it('distinguishes tools with similar names, and names that are special elsewhere.', async () => {
    const store = make();
    const odd = ['__proto__', 'constructor', 'a/b', 'a\u0000b', '\ud800', '\ud801', '../x'].map((name) =>
      toReviewed(tool(name)),
    );
    await store.accept(FS, odd);
    expect(await baselineOf(store)).toEqual(byName(odd));
  });
});

describe('a store in files', () => {
  useLeakCheck();

  it('is readable only by the user.', async () => {
    const folder = newFolder();
    const store = createFileReviewStore({ folder });
    await baselineOf(store, [READ]);
    await store.accept(FS, [WRITE]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const names = await readdir(folder);
    expect(names).toHaveLength(2);
    for (const name of names) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  it('keeps the fingerprint of a tool with a masked part, and ignores an invalid one.', async () => {
    const folder = newFolder();
    const struck = { ...READ, description: '***', fingerprint: 'd'.repeat(64) };
    const store = createFileReviewStore({ folder });
    await store.baseline(FS, [struck]);
    await store.accept(FS, [{ ...struck, name: 'write' }]);
    const again = createFileReviewStore({ folder });
    expect(await again.baseline(FS, [])).toEqual([struck, { ...struck, name: 'write' }]);
    await store.accept(FS, [{ ...struck, fingerprint: 'nonsense' }]);
    expect(await again.baseline(FS, [])).toEqual([{ ...struck, name: 'write' }]);
  });

  it('keeps only the reviewed fields of a tool.', async () => {
    const folder = newFolder();
    const more = { ...tool('read'), _meta: { note: 'never-kept' } };
    await createFileReviewStore({ folder }).baseline(FS, [more]);
    expect(await readFile(join(folder, `${FS.hash}.json`), 'utf8')).not.toContain('never-kept');
  });

  it('gives all processes the same first list if many start at the same time.', async () => {
    const folder = newFolder();
    const lists = await Promise.all(
      Array.from({ length: 16 }, async (_, index) =>
        createFileReviewStore({ folder }).baseline(FS, [toReviewed(tool('read', { title: String(index) }))]),
      ),
    );
    const titles = new Set(lists.map(([first]) => first?.title));
    expect(titles.size).toBe(1);
    expect(await readdir(folder)).toEqual([`${FS.hash}.json`]);
  });

  it('loses nothing if many processes accept at the same time.', async () => {
    const folder = newFolder();
    const tools = Array.from({ length: 16 }, (_, index) => toReviewed(tool(`t${index}`)));
    await Promise.all(
      tools.flatMap((each) => [1, 2].map(async () => createFileReviewStore({ folder }).accept(FS, [each]))),
    );
    expect(await baselineOf(createFileReviewStore({ folder }))).toEqual(byName(tools));
    expect((await readdir(folder)).filter((name) => !name.endsWith('.json'))).toEqual([]);
  });

  it.each([
    ['cut in the middle', '{ "server": "fs", "tools": [{ "na'],
    ['empty', ''],
    ['with another structure', JSON.stringify([READ])],
    ['with invalid tools', JSON.stringify({ tools: [{ name: 'read' }, 7] })],
  ])(
    'refuses a baseline that is %s, reports it, and never replaces it by the next list.',
    async (_, text) => {
      const folder = newFolder();
      const store = createFileReviewStore({ folder });
      await baselineOf(store, [READ, WRITE]);
      const file = join(folder, `${FS.hash}.json`);
      await writeFile(file, text);
      await expect(store.baseline(FS, [CHANGED])).rejects.toThrow(/parsed.*accept/);
      expect(await readFile(file, 'utf8')).toBe(text);
      await store.accept(FS, [READ]);
      expect(await baselineOf(store, [CHANGED, WRITE])).toEqual([READ]);
      const aside = (await readdir(folder)).filter((name) => name.endsWith('.broken'));
      expect(aside).toHaveLength(1);
      expect(await readFile(join(folder, aside[0] ?? ''), 'utf8')).toBe(text);
    },
  );

  it.each([
    ['invalid JSON', '{'],
    ['for another tool', JSON.stringify({ server: 'fs', tools: [WRITE] })],
    ['without a tool', JSON.stringify({ server: 'fs', tools: [] })],
  ])('does not fall back to an older acceptance if the last one is %s.', async (_, text) => {
    const folder = newFolder();
    const store = createFileReviewStore({ folder });
    await baselineOf(store, [READ]);
    await store.accept(FS, [CHANGED]);
    const [later = ''] = (await readdir(folder)).filter((name) => name !== `${FS.hash}.json`);
    await writeFile(join(folder, later), text);
    expect(await baselineOf(store)).toEqual([]);
  });

  it('rejects if it cannot read, and moves no file then.', async () => {
    const folder = newFolder();
    const store = createFileReviewStore({ folder });
    await baselineOf(store, [READ]);
    const file = join(folder, `${FS.hash}.json`);
    await rm(file);
    await mkdir(file);
    await expect(store.baseline(FS, [CHANGED])).rejects.toThrow(file);
    await expect(store.accept(FS, [CHANGED])).rejects.toThrow(file);
    expect(await readdir(folder)).toEqual([`${FS.hash}.json`]);
  });

  it('does not wait for a pipe.', async () => {
    const folder = newFolder();
    const store = createFileReviewStore({ folder });
    await baselineOf(store, [READ]);
    await store.accept(FS, [WRITE]);
    for (const name of await readdir(folder)) {
      await rm(join(folder, name));
      execFileSync('mkfifo', [join(folder, name)]);
      await expect(store.baseline(FS, [CHANGED])).rejects.toThrow(name);
      await rm(join(folder, name));
    }
  });

  it('rejects if it cannot write, and leaves no file behind.', async () => {
    const folder = newFolder();
    await mkdir(dirname(folder));
    await writeFile(folder, 'a file where the folder should be');
    const store = createFileReviewStore({ folder });
    await expect(store.baseline(FS, [READ])).rejects.toThrow();
    await expect(store.accept(FS, [READ])).rejects.toThrow(`'${folder}'`);
    expect(await readdir(dirname(folder))).toEqual(['reviews']);
  });

  it('reports the same error for each failed write.', async () => {
    const folder = newFolder();
    const store = createFileReviewStore({ folder });
    await baselineOf(store, [READ]);
    await store.accept(FS, [WRITE]);
    const [later = ''] = (await readdir(folder)).filter((name) => name !== `${FS.hash}.json`);
    await rm(join(folder, later));
    await mkdir(join(folder, later, 'full'), { recursive: true });
    for (const _ of [1, 2]) {
      const why = new RegExp(`${later}.*(EISDIR|EPERM|EACCES)`);
      await expect(store.accept(FS, [WRITE])).rejects.toThrow(why);
    }
    expect(await readdir(folder)).toHaveLength(2);
  });

  it('cannot be left through a hash that is a path.', async () => {
    const store = createFileReviewStore({ folder: newFolder() });
    const outside = { server: 'fs', hash: '../../x' };
    await expect(store.baseline(outside, [READ])).rejects.toThrow(TypeError);
    await expect(store.accept(outside, [READ])).rejects.toThrow(TypeError);
  });

  it('reports the server whose tools another process accepts, until the watch ends.', async () => {
    const folder = newFolder();
    const onChange = vi.fn<(hash: string) => void>();
    const stop = createFileReviewStore({ folder }).watch?.(onChange) ?? (() => {});
    const other = createFileReviewStore({ folder });
    // The watch starts some time after the request.
    await vi.waitFor(
      async () => {
        await other.accept(FS, [READ]);
        expect(onChange).toHaveBeenCalledWith(FS.hash);
      },
      { timeout: WAIT_LIMIT_MS },
    );
    stop();
    expect(new Set(onChange.mock.calls.flat())).toEqual(new Set([FS.hash]));
  });

  it('does not report its own acceptances.', async () => {
    const folder = newFolder();
    const onChange = vi.fn<(hash: string) => void>();
    const store = createFileReviewStore({ folder });
    const stop = store.watch?.(onChange) ?? (() => {});
    const other = createFileReviewStore({ folder });
    // The watch starts some time after the request.
    await vi.waitFor(
      async () => {
        await other.accept(FS, [READ]);
        expect(onChange).toHaveBeenCalled();
      },
      { timeout: WAIT_LIMIT_MS },
    );
    const own = { server: 'own', hash: 'c'.repeat(64) };
    await other.accept(own, []);
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledWith(own.hash), { timeout: WAIT_LIMIT_MS });
    onChange.mockClear();
    await store.accept(own, [READ]);
    await other.accept(FS, [WRITE]);
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledWith(FS.hash), { timeout: WAIT_LIMIT_MS });
    expect(onChange).not.toHaveBeenCalledWith(own.hash);
    await other.accept(own, [{ ...READ, description: 'another' }]);
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledWith(own.hash), { timeout: WAIT_LIMIT_MS });
    stop();
  });

  it('is in the user’s configuration if the host sets no folder.', async () => {
    stubUser({ config: join(root, 'config') });
    try {
      await createFileReviewStore().baseline(FS, [READ]);
      expect(await readdir(join(await userFolder('config'), 'reviews'))).toEqual([`${FS.hash}.json`]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
