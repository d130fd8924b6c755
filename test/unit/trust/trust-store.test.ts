import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createMemoryTrustStore,
  type TrustStore,
  createFileTrustStore,
} from '../../../src/trust/trust-store.js';
import type { TrustRequest } from '../../../src/trust/trust-request.js';
import { useInotify } from '../../support/inotify.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { userFolder } from '../../../src/storage/folders.js';
import { stubUser } from '../../support/stub-user.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

function requestFor(server: string, digit: string): TrustRequest {
  return {
    server,
    source: '.mcp.json',
    folder: '/srv/project',
    transport: 'stdio',
    command: 'lamp',
    args: ['--key=written-into-the-file'],
    variables: ['KEY'],
    env: {},
    hash: digit.repeat(64),
  };
}

const LAMP = requestFor('lamp', 'a');
const BOAT = requestFor('boat', 'b');

useInotify();

let root: string;
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'troupe-trusted-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
const newFolder = (): string => join(root, String((folders += 1)), 'trusted');

describe.each<[kind: string, make: () => TrustStore]>([
  ['in memory', createMemoryTrustStore],
  ['in files', () => createFileTrustStore({ folder: newFolder() })],
])('a store %s', (_, make) => {
  useLeakCheck();

  it('has the trusted entries, and no others.', async () => {
    const store = make();
    expect(await store.has(LAMP.hash)).toBe(false);
    expect(await store.list()).toEqual([]);
    await store.trust(LAMP);
    expect(await store.has(LAMP.hash)).toBe(true);
    expect(await store.has(BOAT.hash)).toBe(false);
    expect(await store.list()).toEqual([
      { hash: LAMP.hash, server: 'lamp', source: '.mcp.json', folder: '/srv/project' },
    ]);
  });

  it('removes a revoked entry, and keeps the rest.', async () => {
    const store = make();
    await Promise.all([store.trust(LAMP), store.trust(BOAT)]);
    await store.revoke(LAMP.hash);
    await store.revoke(LAMP.hash);
    expect(await store.has(LAMP.hash)).toBe(false);
    expect((await store.list()).map(({ server }) => server)).toEqual(['boat']);
  });
});

describe('a store in files', () => {
  useLeakCheck();

  it('is readable by the user alone, and contains no part of the entry.', async () => {
    const folder = newFolder();
    await createFileTrustStore({ folder }).trust(LAMP);
    const [name = ''] = await readdir(folder);
    const file = join(folder, name);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readFile(file, 'utf8')).not.toContain('written-into-the-file');
  });

  it('loses nothing if many write at the same time.', async () => {
    const folder = newFolder();
    const requests = '0123456789abcdef'.split('').map((digit) => requestFor(`s${digit}`, digit));
    const writes = requests.flatMap((request) =>
      [1, 2].map(async () => createFileTrustStore({ folder }).trust(request)),
    );
    await Promise.all(writes);
    const listed = await createFileTrustStore({ folder }).list();
    expect(listed.map(({ hash }) => hash).toSorted()).toEqual(requests.map(({ hash }) => hash).toSorted());
    expect((await readdir(folder)).length).toBe(requests.length);
  });

  it.each([
    ['cut in the middle', '{ "hash": "aaa'],
    ['empty', ''],
    ['of another request', JSON.stringify({ ...LAMP, hash: BOAT.hash })],
    ['of another shape', JSON.stringify([LAMP])],
  ])('refuses a file that is %s, reports it, and keeps it under another name.', async (_, text) => {
    const folder = newFolder();
    const store = createFileTrustStore({ folder });
    await store.trust(BOAT);
    const file = join(folder, `${LAMP.hash}.json`);
    await writeFile(file, text);
    await expect(store.has(LAMP.hash)).rejects.toThrow(LAMP.hash);
    expect((await store.list()).map(({ server }) => server)).toEqual(['boat']);
    await store.trust(LAMP);
    expect(await store.has(LAMP.hash)).toBe(true);
    const aside = (await readdir(folder)).filter((name) => name.endsWith('.broken'));
    expect(aside).toHaveLength(1);
    expect(await readFile(join(folder, aside[0] ?? ''), 'utf8')).toBe(text);
  });

  it('does not wait for a pipe, and keeps it under another name.', async () => {
    const folder = newFolder();
    const store = createFileTrustStore({ folder });
    await store.trust(BOAT);
    const file = join(folder, `${LAMP.hash}.json`);
    execFileSync('mkfifo', [file]);
    await expect(store.has(LAMP.hash)).rejects.toThrow(file);
    expect((await store.list()).map(({ server }) => server)).toEqual(['boat']);
    await store.trust(LAMP);
    expect(await store.has(LAMP.hash)).toBe(true);
  });

  it('cannot be left through a hash that is a path.', async () => {
    const store = createFileTrustStore({ folder: newFolder() });
    await expect(store.has('../../etc/passwd')).rejects.toThrow(TypeError);
    await expect(store.revoke('../x')).rejects.toThrow(TypeError);
  });

  it('rejects if it cannot write.', async () => {
    const folder = newFolder();
    const store = createFileTrustStore({ folder });
    await mkdir(dirname(folder));
    await writeFile(folder, 'a file where the folder should be');
    await expect(store.trust(LAMP)).rejects.toThrow();
    expect(await store.has(LAMP.hash)).toBe(false);
    expect(await store.list()).toEqual([]);
  });

  it('reports entries that another process trusts, until the watch ends.', async () => {
    const folder = newFolder();
    const onChange = vi.fn<() => void>();
    const stop = createFileTrustStore({ folder }).watch?.(onChange) ?? (() => {});
    const other = createFileTrustStore({ folder });
    // The watch starts some time after the request.
    await vi.waitFor(
      async () => {
        await other.trust(LAMP);
        expect(onChange).toHaveBeenCalled();
      },
      { timeout: WAIT_LIMIT_MS },
    );
    stop();
  });

  it('is in the user’s configuration if the host sets no folder.', async () => {
    stubUser({ config: join(root, 'config') });
    try {
      await createFileTrustStore().trust(LAMP);
      expect(await readdir(join(await userFolder('config'), 'trusted'))).toEqual([`${LAMP.hash}.json`]);
      expect(await createFileTrustStore().has(LAMP.hash)).toBe(true);
      await createFileTrustStore().revoke(LAMP.hash);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
