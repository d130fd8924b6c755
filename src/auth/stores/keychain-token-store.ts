/**
 * Sign-ins in the keychain of the platform, through `@napi-rs/keyring`, which the host installs if it wants this.
 * Processes take turns with the lock files of the file store.
 */
import { createRequire } from 'node:module';
import { isObject } from '../../config/entry/read-shape.js';
import { ConfigError } from '../../errors.js';
import { PACKAGE } from '../../package.js';
import { parseJson } from '../../json/parse-json.js';
import { createFileTokenStore, type FileTokenStoreOptions } from './file-token-store.js';
import { ownerKey, type StoredSignIn, type TokenOwner, type TokenStore } from './token-store.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';

/** The part of the package that is used. */
interface Keyring {
  readonly AsyncEntry: new (service: string, account: string) => KeyringEntry;
}

interface KeyringEntry {
  getPassword(): Promise<string | null | undefined>;
  setPassword(password: string): Promise<void>;
  deletePassword(): Promise<unknown>;
}

/** Options of `createKeychainTokenStore`. */
export interface KeychainTokenStoreOptions {
  /** The name that the keychain shows. Default: the name of this package. */
  readonly service?: string;
  /** Options of the lock files. Default: as for the file store. */
  readonly locks?: FileTokenStoreOptions;
  /** Loads the keychain package. Default: `@napi-rs/keyring`, resolved from this package. */
  readonly load?: () => Promise<unknown>;
}

const NAMES: OptionNames<KeychainTokenStoreOptions> = { service: true, locks: true, load: true };

/**
 * Keeps sign-ins in the keychain of the operating system. Every method rejects with a {@link ConfigError} if
 * the package `@napi-rs/keyring` is not installed.
 *
 * @param options The name that the keychain shows, the lock files, and how to load the package. Each field documents its
 *   default.
 *
 * @example
 * ```ts
 * import { createKeychainTokenStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', auth: { store: createKeychainTokenStore() } });
 * ```
 */
export function createKeychainTokenStore(options: KeychainTokenStoreOptions = {}): TokenStore {
  requireKnown('createKeychainTokenStore', options, NAMES);
  const { service = PACKAGE.name, load = loadPeer } = options;
  const locks = createFileTokenStore(options.locks);
  let loaded: Promise<Keyring> | undefined;
  const entry = async (owner: TokenOwner): Promise<KeyringEntry> => {
    loaded ??= toKeyring(load);
    const { AsyncEntry } = await loaded;
    return new AsyncEntry(service, ownerKey(owner));
  };
  return {
    read: async (owner) => parse(await (await entry(owner)).getPassword()),
    write: async (owner, signIn) => (await entry(owner)).setPassword(JSON.stringify(signIn)),
    forget: async (owner) => {
      const kept = await entry(owner);
      if (typeof (await kept.getPassword()) === 'string') await kept.deletePassword();
    },
    exclusively: (owner, work, signal) =>
      locks.exclusively === undefined ? work() : locks.exclusively(owner, work, signal),
  };
}

/** Loaded by a computed name, so that no compiler or bundler looks for the optional package. */
async function loadPeer(): Promise<unknown> {
  const fromHere = createRequire(import.meta.url);
  return fromHere('@napi-rs/keyring');
}

async function toKeyring(load: () => Promise<unknown>): Promise<Keyring> {
  let loaded: unknown;
  try {
    loaded = await load();
  } catch (cause) {
    throw new ConfigError('Keeping sign-ins in the keychain needs the package @napi-rs/keyring.', { cause });
  }
  return loaded as Keyring;
}

function parse(text: string | null | undefined): StoredSignIn | undefined {
  const value = parseJson(text ?? '');
  return isObject(value) ? value : undefined;
}
