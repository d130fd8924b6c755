import { homedir } from 'node:os';
import { expect, it, vi } from 'vitest';
import { createFileTokenStore } from '../../../src/auth/stores/file-token-store.js';
import { createFileCatalogStore } from '../../../src/catalog/cache-files.js';
import { createFileTrustStore } from '../../../src/trust/file-trust-store.js';
import { createFileReviewStore } from '../../../src/review/file-review-store.js';
import { THIS_PLATFORM } from '../../../src/platform/platform.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { scriptedProgram } from '../../../src/testing/index.js';
import { homeFolder, userFolder } from '../../../src/storage/user-folder.js';
import { useLeakCheck } from '../../support/leak-check.js';

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
