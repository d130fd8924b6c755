/**
 * Sign-ins in the keychain of the platform, through `@napi-rs/keyring`, which the host installs if it wants this.
 * Processes take turns with the lock files of the file store.
 */
import { isObject } from '../../config/entry/read-shape.js';
import { ConfigError } from '../../errors.js';
import { reasonOf } from '../../text/error-message.js';
import { PACKAGE } from '../../package.js';
import { parseJson } from '../../json/parse-json.js';
import { THIS_PLATFORM, type Platform } from '../../platform/platform.js';
import { createFileTokenStore, type FileTokenStoreOptions } from './file-token-store.js';
import { KeychainPieces, type KeychainEntry } from './keychain-pieces.js';
import { ownerKey, type StoredSignIn, type TokenStore } from './token-store.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';

/** The part of the package that is used. */
interface Keyring {
  readonly AsyncEntry: new (service: string, account: string) => KeychainEntry;
}

/** Options of `createKeychainTokenStore`. */
export interface KeychainTokenStoreOptions {
  /** The name that the keychain shows. Default: the name of this package. */
  readonly service?: string;
  /** Options of the lock files. Default: as for the file store. */
  readonly locks?: FileTokenStoreOptions;
  /**
   * Loads the keychain package. Default: imports `@napi-rs/keyring`, which a bundler does not see. A host that bundles it
   * passes `() => import('@napi-rs/keyring')`.
   */
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
  return keychainTokenStore(options, THIS_PLATFORM);
}

/** As `createKeychainTokenStore`, for the keychain of that system. */
export function keychainTokenStore(
  options: KeychainTokenStoreOptions,
  { keychainCharacters }: Pick<Platform, 'keychainCharacters'>,
): TokenStore {
  const { service = PACKAGE.name, load = loadPeer } = options;
  const locks = createFileTokenStore(options.locks);
  let opened: Promise<KeychainPieces> | undefined;
  const keychain = (): Promise<KeychainPieces> =>
    (opened ??= toKeyring(load).then(
      ({ AsyncEntry }) =>
        new KeychainPieces((account) => new AsyncEntry(service, account), keychainCharacters),
    ));
  return {
    read: async (owner) => parse(await (await keychain()).read(ownerKey(owner))),
    write: async (owner, signIn) => (await keychain()).write(ownerKey(owner), JSON.stringify(signIn)),
    forget: async (owner) => (await keychain()).forget(ownerKey(owner)),
    exclusively: (owner, work, signal) =>
      locks.exclusively === undefined ? work() : locks.exclusively(owner, work, signal),
  };
}

const PEER = '@napi-rs/keyring';

/** By a variable and with these comments, so that no compiler or bundler looks for the optional package. */
async function loadPeer(): Promise<unknown> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ PEER);
}

async function toKeyring(load: () => Promise<unknown>): Promise<Keyring> {
  let loaded: unknown;
  try {
    loaded = await load();
  } catch (cause) {
    throw new ConfigError(
      `Keeping sign-ins in the keychain needs the package @napi-rs/keyring: ${reasonOf(cause)}`,
      { cause },
    );
  }
  return loaded as Keyring;
}

function parse(text: string | undefined): StoredSignIn | undefined {
  const value = parseJson(text ?? '');
  return isObject(value) ? value : undefined;
}
