import { spawnSync } from 'node:child_process';
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
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileTokenStore } from '../../../../src/auth/stores/file-token-store.js';
import { createKeychainTokenStore } from '../../../../src/auth/stores/keychain-token-store.js';
import { withLock } from '../../../../src/storage/lock-file.js';
import {
  createMemoryTokenStore,
  ownerOf,
  type StoredSignIn,
  type TokenStore,
} from '../../../../src/auth/stores/token-store.js';
import { ConfigError } from '../../../../src/errors.js';
import { systemClock } from '../../../../src/ports.js';
import { createGate } from '../../../support/gate.js';
import { useInotify } from '../../../support/inotify.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { bounded } from '../../../support/signing-troupes.js';

useInotify();
useLeakCheck();

let folder: string;
let count = 0;
const fresh = (): string => join(folder, String((count += 1)));
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-sign-ins-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const OWNER = ownerOf('https://user:pass@port.example/mcp?berth=7#top', 'client-1');
const SIGN_IN: StoredSignIn = {
  tokens: { access_token: 'access', refresh_token: 'refresh', token_type: 'Bearer' },
  expiresAt: 5,
};
const never = new AbortController().signal;

function fakeKeyring() {
  const kept = new Map<string, string>();
  return {
    kept,
    AsyncEntry: class {
      readonly #key: string;
      constructor(service: string, account: string) {
        this.#key = `${service}/${account}`;
      }
      getPassword = async () => kept.get(this.#key);
      setPassword = async (text: string) => void kept.set(this.#key, text);
      deletePassword = async () => kept.delete(this.#key);
    },
  };
}

const STORES: readonly (readonly [string, () => TokenStore])[] = [
  ['memory', () => createMemoryTokenStore()],
  ['files', () => createFileTokenStore({ folder: fresh() })],
  [
    'the keychain',
    () => createKeychainTokenStore({ load: async () => fakeKeyring(), locks: { folder: fresh() } }),
  ],
];

it.each(['@napi-rs/keyring', 'keyring-1'])('The package %s has what the store uses.', async (name) => {
  const { AsyncEntry } = (await import(name)) as { AsyncEntry: { readonly prototype: object } };
  expect(AsyncEntry.prototype).toMatchObject({
    getPassword: expect.any(Function),
    setPassword: expect.any(Function),
    deletePassword: expect.any(Function),
  });
});

describe.each(STORES)('a store in %s', (_, make) => {
  it('returns what was written, only for its owner, until it is forgotten.', async () => {
    const store = make();
    expect(await store.read(OWNER)).toBeUndefined();
    await store.write(OWNER, SIGN_IN);
    expect(await store.read(OWNER)).toEqual(SIGN_IN);
    expect(await store.read(ownerOf('https://port.example/mcp?berth=7', 'client-1'))).toEqual(SIGN_IN);
    expect(await store.read({ ...OWNER, client: 'client-2' })).toBeUndefined();
    expect(await store.read({ ...OWNER, account: 'work' })).toBeUndefined();
    expect(await store.read(ownerOf('https://port.example/other', 'client-1'))).toBeUndefined();
    await store.forget(OWNER);
    await store.forget(OWNER);
    expect(await store.read(OWNER)).toBeUndefined();
  });

  it('serializes changes of the sign-in of one owner, even after a failure.', async () => {
    const store = make();
    const order: string[] = [];
    const gate = createGate();
    const first = store.exclusively!(
      OWNER,
      async () => {
        order.push('first begins');
        await gate.promise;
        order.push('first ends');
        throw new Error('failed');
      },
      never,
    );
    const second = store.exclusively!(OWNER, async () => void order.push('second'), never);
    const other = store.exclusively!(
      { ...OWNER, client: 'other' },
      async () => void order.push('other'),
      never,
    );
    await bounded(other);
    gate.open();
    await expect(bounded(first)).rejects.toThrow('failed');
    await bounded(second);
    expect(order.filter((step) => step !== 'other')).toEqual(['first begins', 'first ends', 'second']);
    expect(order.indexOf('other')).toBeLessThan(order.indexOf('first ends'));
  });

  it('stops waiting for exclusive access when its signal aborts.', async () => {
    const store = make();
    const gate = createGate();
    const begun = createGate();
    const hold = (): Promise<void> => {
      begun.open();
      return gate.promise;
    };
    const first = store.exclusively!(OWNER, hold, never);
    await bounded(begun.promise);
    const stop = new AbortController();
    const waiting = store.exclusively!(OWNER, async () => 'ran', stop.signal);
    stop.abort(new Error('no more'));
    await expect(bounded(waiting)).rejects.toThrow('no more');
    gate.open();
    await first;
  });
});

describe('a store in files', () => {
  it('writes files atomically, readable only by the user, without secrets in their names.', async () => {
    const place = fresh();
    const store = createFileTokenStore({ folder: place });
    await Promise.all(Array.from({ length: 10 }, () => store.write(OWNER, SIGN_IN)));
    const names = readdirSync(place);
    expect(names).toEqual([expect.stringMatching(/^port\.example-[0-9a-f]{24}\.json$/)]);
    expect(statSync(join(place, names[0]!)).mode & 0o777).toBe(0o600);
    expect(statSync(place).mode & 0o777).toBe(0o700);
  });

  it('treats a file that cannot be parsed as missing, and replaces it.', async () => {
    const place = fresh();
    const store = createFileTokenStore({ folder: place });
    await store.write(OWNER, SIGN_IN);
    const file = join(place, readdirSync(place)[0]!);
    for (const text of ['', '{"tokens":', 'null', '[]']) {
      writeFileSync(file, text);
      expect(await store.read(OWNER)).toBeUndefined();
    }
    await store.write(OWNER, SIGN_IN);
    expect(await store.read(OWNER)).toEqual(SIGN_IN);
  });

  it('reports when another process may have signed in.', async () => {
    const place = fresh();
    const changed = createGate();
    const store = createFileTokenStore({ folder: place });
    await store.write(OWNER, {});
    const stop = store.watch!(OWNER, () => changed.open());
    const other = createFileTokenStore({ folder: place });
    const writing = setInterval(() => void other.write(OWNER, SIGN_IN), 50);
    await expect(bounded(changed.promise)).resolves.toBeUndefined();
    clearInterval(writing);
    stop();
  });
});

describe('a store in the keychain', () => {
  it('names the missing package if it is not installed.', async () => {
    const store = createKeychainTokenStore({ load: () => Promise.reject(new Error('not found')) });
    await expect(store.read(OWNER)).rejects.toThrow(ConfigError);
    await expect(store.read(OWNER)).rejects.toThrow(/@napi-rs\/keyring/);
  });
});

describe('a lock file', () => {
  const terms = { clock: systemClock, signal: never };
  const lock = (): string => {
    const path = `${fresh()}.lock`;
    return path;
  };

  it('exists while the work runs, and is deleted afterwards.', async () => {
    const path = lock();
    const held = await withLock(path, async () => readFileSync(path, 'utf8'), terms);
    expect(held).toMatch(new RegExp(`^${process.pid} `));
    expect(() => statSync(path)).toThrow('ENOENT');
  });

  it('is taken over from a process that has died.', async () => {
    const path = lock();
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    writeFileSync(path, `${pid} ${hostname()} abc`);
    expect(await bounded(withLock(path, async () => 'ran', terms))).toBe('ran');
  });

  it('is taken over if it was not touched for long, whichever process created it.', async () => {
    const path = lock();
    writeFileSync(path, `${process.pid} another-machine abc`);
    const before = new Date(Date.now() - 60_000);
    utimesSync(path, before, before);
    expect(await bounded(withLock(path, async () => 'ran', terms))).toBe('ran');
  });

  it('is not deleted if another process has taken it over in the meantime.', async () => {
    const path = lock();
    await withLock(path, async () => writeFileSync(path, 'another owner'), terms);
    expect(readFileSync(path, 'utf8')).toBe('another owner');
  });

  it('does not lose the result of the work if it cannot be deleted.', async () => {
    const path = lock();
    const work = async (): Promise<string> => {
      rmSync(path);
      mkdirSync(path);
      return 'the tokens';
    };
    expect(await bounded(withLock(path, work, terms))).toBe('the tokens');
  });

  it('does not affect the process.', async () => {
    const before = [process.emit, process.cwd, process.eventNames().length];
    await withLock(lock(), async () => {}, terms);
    expect([process.emit, process.cwd, process.eventNames().length]).toEqual(before);
  });
});
