import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFileTokenStore } from '../../../../src/auth/stores/file-token-store.js';
import { storeInVariable, userStore } from '../../../../src/config/files/user-store.js';
import { ConfigError } from '../../../../src/errors.js';
import { inspectionFolder } from '../../../../src/inspector/registration.js';
import { createFileReviewStore } from '../../../../src/review/review-store.js';
import { toCatalogStore } from '../../../../src/runtime/check-options.js';
import { createFileTrustStore } from '../../../../src/trust/trust-store.js';
import { stubUser } from '../../../support/stub-user.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const HASH = 'a'.repeat(64);
const OWNER = { server: 'https://lamp.example/mcp', client: '' };

/** What every store does first. */
const STORES: Readonly<Record<string, (place: string) => unknown>> = {
  'trusted entries': () => createFileTrustStore().has(HASH),
  'trusted entries, listed': () => createFileTrustStore().list(),
  'accepted tools': () => createFileReviewStore().baseline({ server: 'lamp', hash: HASH }, []),
  'sign-ins': () => createFileTokenStore().read(OWNER),
  'new sign-ins': () => createFileTokenStore().write(OWNER, {}),
  'locks of sign-ins': () =>
    createFileTokenStore().exclusively?.(OWNER, async () => {}, AbortSignal.timeout(10_000)),
  'lists of tools': () => toCatalogStore(undefined, {})?.get(HASH),
  'lists of tools, by its own variable': (place) =>
    toCatalogStore(undefined, { TROUPE_CACHE: place })?.get(HASH),
  inspections: () => inspectionFolder({}),
  'inspections, by the variable of the session': (place) => inspectionFolder({ XDG_RUNTIME_DIR: place }),
  'the token of the gateway': () => userStore('log')(),
};

let root: string;
let cwd: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-store-')));
  for (const folder of ['home', 'repo/.git', 'repo/inner', 'repo/place'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'repo/inner/.mcp.json'), '{}');
  symlinkSync(join(root, 'repo/place'), join(root, 'link'));
  symlinkSync(join(root, 'repo/later'), join(root, 'dangling'));
  symlinkSync(join(root, 'repo/inner'), join(root, 'checkout'));
  cwd = join(root, 'repo/inner');
  vi.spyOn(process, 'cwd').mockImplementation(() => cwd);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

/** The user's folders are in `place`: by their variables, or by the home folder where there are none. */
function useFolders(place: string): void {
  const home = process.platform === 'darwin' ? place : join(root, 'home');
  stubUser({ home, config: place, data: place, cache: place, state: place });
}

describe.each(Object.keys(STORES))('the store of %s', (name) => {
  const use = async (place: string) => STORES[name]?.(place);

  it.each<[where: string, place: string, from?: string]>([
    ['in the project', 'repo/place'],
    ['in the nearest project', 'repo/inner/deep/place'],
    ['in the project by a link', 'link'],
    ['in the project by a link to a folder that does not exist yet', 'dangling'],
    ['in the project by a link and a way back', 'dangling/a/../b'],
    ['in the project that is entered by a link', 'repo/place', 'checkout'],
    ['in the project by the link that the host works in', 'checkout/place', 'checkout'],
  ])('is not used if it is %s, and nothing is written there.', async (_, place, from = 'repo/inner') => {
    cwd = join(root, from);
    useFolders(join(root, place));
    const before = readdirSync(join(root, 'repo'), { recursive: true });
    const error: unknown = await use(join(root, place)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toMatch(
      /is inside the project, .*(XDG_|HOME|TROUPE_CACHE|APPDATA)/,
    );
    expect(readdirSync(join(root, 'repo'), { recursive: true })).toEqual(before);
  });

  it.each<[where: string, place: string, from?: string]>([
    ['beside the project', 'repo-2/place'],
    ['in another project', 'repo/place', 'home'],
    ['outside, by a way that leads through the project', 'repo/place/../../home/place'],
  ])('is used if it is %s.', async (_, place, from = 'repo/inner') => {
    cwd = join(root, from);
    useFolders(join(root, place));
    await expect(use(join(root, place))).resolves.not.toThrow();
  });
});

describe.each<[store: string, use: (place: string, cwd: string) => unknown]>([
  ['trusted entries', (_, at) => createFileTrustStore({ cwd: at }).list()],
  [
    'accepted tools',
    (_, at) => createFileReviewStore({ cwd: at }).baseline({ server: 'lamp', hash: HASH }, []),
  ],
  ['sign-ins', (_, at) => createFileTokenStore({ cwd: at }).read(OWNER)],
  ['lists of tools', (_, at) => toCatalogStore(undefined, {}, at)?.get(HASH)],
  [
    'lists of tools, by its own variable',
    (place, at) => toCatalogStore(undefined, { TROUPE_CACHE: place }, at)?.get(HASH),
  ],
])('the store of %s, of a host that works in another folder than its process,', (_, use) => {
  beforeEach(() => useFolders(join(root, 'repo/place')));

  it('is not used if it is in the project of that folder.', async () => {
    cwd = join(root, 'home');
    const error: unknown = await Promise.resolve(
      use(join(root, 'repo/place'), join(root, 'repo/inner')),
    ).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
  });

  it('is used if it is in a project that only the process runs in.', async () => {
    cwd = join(root, 'repo/inner');
    await expect(use(join(root, 'repo/place'), join(root, 'home'))).resolves.not.toThrow();
  });
});

describe('a folder of a store', () => {
  it('is decided once, so that it stays the same if the host changes its working folder.', async () => {
    useFolders(join(root, 'repo/place'));
    cwd = join(root, 'home');
    const folder = userStore('config', 'reviews');
    const first = await folder();
    cwd = join(root, 'repo/inner');
    expect(await folder()).toBe(first);
  });

  it('in a variable must be an absolute path.', async () => {
    cwd = join(root, 'home');
    for (const folder of ['cache', './cache', '../cache', '~/cache']) {
      await expect(storeInVariable('TROUPE_CACHE', folder)()).rejects.toThrow(/TROUPE_CACHE.*absolute/);
    }
  });

  it('that code names is used wherever it is: the code decides.', async () => {
    const folder = join(root, 'repo/place');
    await createFileTokenStore({ folder }).write(OWNER, { redirectUrl: 'http://127.0.0.1:1/' });
    expect(await createFileTokenStore({ folder }).read(OWNER)).toEqual({
      redirectUrl: 'http://127.0.0.1:1/',
    });
  });
});
