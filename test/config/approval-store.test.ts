import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMemoryApprovalStore, type ApprovalStore } from '../../src/config/approval-store.js';
import { createFileApprovalStore } from '../../src/config/file-approval-store.js';
import type { TrustRequest } from '../../src/options.js';
import { useInotify } from '../support/inotify.js';
import { useLeakCheck } from '../support/leak-check.js';

function requestFor(server: string, digit: string): TrustRequest {
  return {
    server,
    source: '.mcp.json',
    folder: '/srv/project',
    transport: 'stdio',
    command: 'lamp',
    args: ['--key=written-into-the-file'],
    variables: ['KEY'],
    env: [],
    hash: digit.repeat(64),
  };
}

const LAMP = requestFor('lamp', 'a');
const BOAT = requestFor('boat', 'b');

useInotify();

let root: string;
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'troupe-approvals-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
const newFolder = (): string => join(root, String((folders += 1)), 'approvals');

describe.each<[kind: string, make: () => ApprovalStore]>([
  ['in memory', createMemoryApprovalStore],
  ['in files', () => createFileApprovalStore({ folder: newFolder() })],
])('a store %s', (_, make) => {
  useLeakCheck();

  it('knows what was approved, and nothing else.', async () => {
    const store = make();
    expect(await store.has(LAMP.hash)).toBe(false);
    expect(await store.list()).toEqual([]);
    await store.approve(LAMP);
    expect(await store.has(LAMP.hash)).toBe(true);
    expect(await store.has(BOAT.hash)).toBe(false);
    expect(await store.list()).toEqual([
      { hash: LAMP.hash, server: 'lamp', source: '.mcp.json', folder: '/srv/project' },
    ]);
  });

  it('forgets what is revoked, and keeps the rest.', async () => {
    const store = make();
    await Promise.all([store.approve(LAMP), store.approve(BOAT)]);
    await store.revoke(LAMP.hash);
    await store.revoke(LAMP.hash);
    expect(await store.has(LAMP.hash)).toBe(false);
    expect((await store.list()).map(({ server }) => server)).toEqual(['boat']);
  });
});

describe('a store in files', () => {
  useLeakCheck();

  it('is for the user alone, and holds no word of the entry.', async () => {
    const folder = newFolder();
    await createFileApprovalStore({ folder }).approve(LAMP);
    const [name = ''] = await readdir(folder);
    const file = join(folder, name);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readFile(file, 'utf8')).not.toContain('written-into-the-file');
  });

  it('loses nothing where many approve at the same time.', async () => {
    const folder = newFolder();
    const requests = '0123456789abcdef'.split('').map((digit) => requestFor(`s${digit}`, digit));
    const writes = requests.flatMap((request) =>
      [1, 2].map(async () => createFileApprovalStore({ folder }).approve(request)),
    );
    await Promise.all(writes);
    const listed = await createFileApprovalStore({ folder }).list();
    expect(listed.map(({ hash }) => hash).toSorted()).toEqual(requests.map(({ hash }) => hash).toSorted());
    expect((await readdir(folder)).length).toBe(requests.length);
  });

  it.each([
    ['cut in the middle', '{ "hash": "aaa'],
    ['empty', ''],
    ['of another request', JSON.stringify({ ...LAMP, hash: BOAT.hash })],
    ['of another shape', JSON.stringify([LAMP])],
  ])('takes a file that is %s for no approval, says so, and keeps it aside.', async (_, text) => {
    const folder = newFolder();
    const store = createFileApprovalStore({ folder });
    await store.approve(BOAT);
    const file = join(folder, `${LAMP.hash}.json`);
    await writeFile(file, text);
    await expect(store.has(LAMP.hash)).rejects.toThrow(/is no approval that can be understood/);
    expect((await store.list()).map(({ server }) => server)).toEqual(['boat']);
    await store.approve(LAMP);
    expect(await store.has(LAMP.hash)).toBe(true);
    const aside = (await readdir(folder)).filter((name) => name.endsWith('.broken'));
    expect(aside).toHaveLength(1);
    expect(await readFile(join(folder, aside[0] ?? ''), 'utf8')).toBe(text);
  });

  it('waits for no pipe, and keeps it aside.', async () => {
    const folder = newFolder();
    const store = createFileApprovalStore({ folder });
    await store.approve(BOAT);
    const file = join(folder, `${LAMP.hash}.json`);
    execFileSync('mkfifo', [file]);
    await expect(store.has(LAMP.hash)).rejects.toThrow(`${file} is no file`);
    expect((await store.list()).map(({ server }) => server)).toEqual(['boat']);
    await store.approve(LAMP);
    expect(await store.has(LAMP.hash)).toBe(true);
  });

  it('can be read by nobody through a hash that is a path.', async () => {
    const store = createFileApprovalStore({ folder: newFolder() });
    await expect(store.has('../../etc/passwd')).rejects.toThrow(TypeError);
    await expect(store.revoke('../x')).rejects.toThrow(TypeError);
  });

  it('rejects where it cannot write.', async () => {
    const folder = newFolder();
    const store = createFileApprovalStore({ folder });
    await mkdir(dirname(folder));
    await writeFile(folder, 'a file where the folder should be');
    await expect(store.approve(LAMP)).rejects.toThrow();
    expect(await store.has(LAMP.hash)).toBe(false);
    expect(await store.list()).toEqual([]);
  });

  it('tells of what another one approves, until nobody wants to know.', async () => {
    const folder = newFolder();
    const onChange = vi.fn<() => void>();
    const stop = createFileApprovalStore({ folder }).watch?.(onChange) ?? (() => {});
    const other = createFileApprovalStore({ folder });
    // The watch begins some time after it was asked for.
    await vi.waitFor(
      async () => {
        await other.approve(LAMP);
        expect(onChange).toHaveBeenCalled();
      },
      { timeout: 10_000 },
    );
    stop();
  });

  it('is in the user’s configuration where the host names no folder.', async () => {
    const home = join(root, 'config');
    vi.stubEnv('XDG_CONFIG_HOME', home);
    try {
      await createFileApprovalStore().approve(LAMP);
      if (process.platform === 'linux') {
        expect(await readdir(join(home, 'troupe', 'approvals'))).toEqual([`${LAMP.hash}.json`]);
      }
      expect(await createFileApprovalStore().has(LAMP.hash)).toBe(true);
      await createFileApprovalStore().revoke(LAMP.hash);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
