import { homedir, tmpdir } from 'node:os';
import { expect, it, vi, afterEach, beforeEach, describe } from 'vitest';
import { createFileTokenStore } from '../../../src/auth/stores/file-token-store.js';
import { createFileCatalogStore } from '../../../src/catalog/cache-store.js';
import { createFileTrustStore } from '../../../src/trust/trust-store.js';
import { createFileReviewStore } from '../../../src/review/review-store.js';
import { THIS_PLATFORM } from '../../../src/platform/platform.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { scriptedProgram } from '../../../src/testing/index.js';
import { homeFolder, userFolder, makeFolder } from '../../../src/storage/folders.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Mocked because HOME cannot express that the system has no home folder.
vi.mock('node:os', async (original) => ({
  ...(await original<object>()),
  homedir: vi.fn(() => '/home/ada'),
}));

useLeakCheck();

const OWNER = { server: 'https://docs.example/', client: 'registered' } as never;
const KEY = 'a'.repeat(64);
const { homeVariable } = THIS_PLATFORM;
const UNKNOWN = new RegExp(homeVariable);

/** The system has no entry for the user, and HOME is not set. */
function noHome(): string {
  throw Object.assign(new Error('uv_os_homedir returned ENOENT'), { code: 'ERR_SYSTEM_ERROR' });
}

const WITHOUT = [
  ['the system does not know it', noHome],
  ['HOME is empty', () => ''],
  ['HOME is a relative path', () => 'ada'],
] as const;

it.each(WITHOUT)('a user has no home folder if %s, and no file is kept anywhere else.', async (_, home) => {
  vi.mocked(homedir).mockImplementation(home);
  expect(homeFolder()).toBeUndefined();
  await expect(userFolder('config')).rejects.toThrow(UNKNOWN);
  await expect((async () => createFileTrustStore().list())()).rejects.toThrow(UNKNOWN);
  await expect((async () => createFileReviewStore().baseline({ hash: KEY } as never, []))()).rejects.toThrow(
    UNKNOWN,
  );
  await expect((async () => createFileCatalogStore().get(KEY))()).rejects.toThrow(/TROUPE_CACHE/);
  await expect((async () => createFileTokenStore().read(OWNER))()).rejects.toThrow(UNKNOWN);
});

it.each(WITHOUT)('servers start anyway if %s, except one that needs the home folder.', async (_, home) => {
  vi.mocked(homedir).mockImplementation(home);
  const { command, args } = scriptedProgram({});
  const troupe = createTroupe({
    discover: true,
    servers: { plain: { command, args }, needsHome: { command, args: [...args, '~/notes'] } },
  });
  try {
    const { ready, failed } = await troupe.start();
    expect(ready).toEqual(['plain']);
    expect(failed.map(({ server, failure }) => [server, failure.code, failure.message])).toEqual([
      [
        'needsHome',
        'variable-missing',
        `Server 'needsHome' needs a variable that is not set: ${homeVariable} (in 'args[${args.length}]')`,
      ],
    ]);
  } finally {
    await troupe.close();
  }
});

// How folders are created. The mock forbids the implementation that would never finish within a time limit.

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs')>();
  const mkdirOne = (path: string, options?: { readonly mode?: number; readonly recursive?: boolean }) => {
    if (options?.recursive === true) throw new Error('may never end');
    return real.mkdirSync(path, options);
  };
  return { ...real, mkdirSync: mkdirOne };
});

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'troupe-folder-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('a folder', () => {
  it('is created with the folders above it, for the user alone.', () => {
    makeFolder(join(root, 'a', 'b', 'c'));
    for (const name of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(root, name))).toBe(0o700);
  });

  it('that exists stays as it is, even behind a link.', () => {
    mkdirSync(join(root, 'open'), { mode: 0o755 });
    symlinkSync(join(root, 'open'), join(root, 'link'));
    makeFolder(join(root, 'link'));
    makeFolder(join(root, 'link', 'in'));
    expect(modeOf(join(root, 'open'))).toBe(0o755);
    expect(modeOf(join(root, 'open', 'in'))).toBe(0o700);
  });

  it('that the system cannot create is named in the error.', () => {
    expect(() => makeFolder('/proc/x/troupe/reviews')).toThrow(/'\/proc\/x'.*ENOENT/);
  });

  it('is not created if a file is in the way, which the error names.', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    for (const folder of [file, join(file, 'in')]) {
      expect(() => makeFolder(folder)).toThrow(`'${file}'`);
      expect(() => makeFolder(folder)).toThrow('EEXIST');
    }
  });
});
