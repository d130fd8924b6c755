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
import { ownerKey, type StoredSignIn, type TokenStore } from './token-store.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';
import { randomBytes } from 'node:crypto';

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

// Keeps texts of any length in a keychain whose entries are short (Windows). A longer text is cut into pieces with entries of
// their own; the entry that is looked for names them.
//
// K1. The entry is written last: a reader finds the old text or the new one.
// K2. Pieces that no entry names any more are removed.

/** One entry of the keychain. */
export interface KeychainEntry {
  getPassword(): Promise<string | null | undefined>;
  setPassword(password: string): Promise<void>;
  deletePassword(): Promise<unknown>;
}

/** Opens the entry of that name. */
export type OpenEntry = (account: string) => KeychainEntry;

/** The names of the pieces, in order. */
interface Pieces {
  readonly pieces: number;
  readonly of: string;
}

export class KeychainPieces {
  readonly #open: OpenEntry;
  readonly #most: number;

  /** @param most Most characters of one entry. */
  constructor(open: OpenEntry, most: number) {
    this.#open = open;
    this.#most = most;
  }

  /** Undefined if there is none, or if a piece of it is missing. */
  async read(account: string): Promise<string | undefined> {
    const text = (await this.#open(account).getPassword()) ?? undefined;
    const cut = text === undefined ? undefined : piecesIn(text);
    if (cut === undefined) return text;
    const pieces = await Promise.all(this.#entriesOf(account, cut).map((entry) => entry.getPassword()));
    return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : undefined;
  }

  async write(account: string, text: string): Promise<void> {
    const before = await this.#cutAt(account);
    const isShort = text.length <= this.#most;
    const pieces = isShort ? [] : cutIn(text, this.#most);
    const cut: Pieces = { pieces: pieces.length, of: randomBytes(6).toString('hex') };
    const entries = this.#entriesOf(account, cut);
    for (const [index, piece] of pieces.entries()) await entries[index]?.setPassword(piece);
    await this.#open(account).setPassword(isShort ? text : JSON.stringify(cut));
    await this.#removePieces(account, before);
  }

  async forget(account: string): Promise<void> {
    const before = await this.#cutAt(account);
    await remove(this.#open(account));
    await this.#removePieces(account, before);
  }

  async #cutAt(account: string): Promise<Pieces | undefined> {
    return piecesIn((await this.#open(account).getPassword()) ?? '');
  }

  async #removePieces(account: string, cut: Pieces | undefined): Promise<void> {
    if (cut !== undefined) await Promise.all(this.#entriesOf(account, cut).map(remove));
  }

  #entriesOf(account: string, { pieces, of }: Pieces): readonly KeychainEntry[] {
    return Array.from({ length: pieces }, (_, index) => this.#open(`${account}\n${of}.${index}`));
  }
}

async function remove(entry: KeychainEntry): Promise<void> {
  if (typeof (await entry.getPassword()) === 'string') await entry.deletePassword();
}

/** A sign-in has no field of that name. */
function piecesIn(text: string): Pieces | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { pieces, of } = value as Partial<Pieces>;
  return Number.isSafeInteger(pieces) && typeof of === 'string'
    ? { pieces: pieces as number, of }
    : undefined;
}

function cutIn(text: string, most: number): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / most) }, (_, index) =>
    text.slice(index * most, (index + 1) * most),
  );
}
