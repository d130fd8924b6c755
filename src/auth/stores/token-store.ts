/**
 * Where sign-ins are kept: the port, and a store in memory.
 *
 * K1. A stored sign-in belongs to one server address, one client and one account, and is used for no other.
 * K2. A change to a sign-in happens within `exclusively` and first reads what is stored: another process may have
 *     renewed it, and that result counts.
 */
import type { OAuthClientInformationMixed, OAuthTokens } from '../../mcp/oauth.js';
import { Mutex } from '../../async/semaphore.js';

/** Whose sign-in it is. */
export interface TokenOwner {
  /** Address of the server, without credentials and fragment. */
  readonly server: string;
  /** The given client id, or the address of the client's metadata document; empty for a client that registers itself. */
  readonly client: string;
  /** The name that the entry gives to the account. Absent if it gives none. */
  readonly account?: string;
}

/** One sign-in. Plain JSON, and secret. */
export interface StoredSignIn {
  /** Tokens from the authorization server. Absent if only a client registration is stored. */
  readonly tokens?: OAuthTokens;
  /** When the access token expires, milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** The client as the authorization server registered it. */
  readonly client?: OAuthClientInformationMixed;
  /** The redirect it was registered for. */
  readonly redirectUrl?: string;
}

/** Stores sign-ins. A rejection fails only the operation that needs it. */
export interface TokenStore {
  /**
   * The stored sign-in; undefined if there is none.
   *
   * @param owner Address, client and account that the sign-in belongs to.
   */
  read(owner: TokenOwner): Promise<StoredSignIn | undefined>;
  /**
   * Stores a sign-in in place of the former one.
   *
   * @param owner Address, client and account that the sign-in belongs to.
   * @param signIn The whole sign-in; it replaces the former one.
   */
  write(owner: TokenOwner, signIn: StoredSignIn): Promise<void>;
  /**
   * Deletes the stored sign-in. No error if there is none.
   *
   * @param owner Address, client and account that the sign-in belongs to.
   */
  forget(owner: TokenOwner): Promise<void>;
  /**
   * Runs the work while no other process or troupe works on the same sign-in. The signal ends the wait for
   * the turn. Default: one after the other within a troupe.
   *
   * @typeParam T Type of the result.
   * @param owner Address, client and account that the sign-in belongs to.
   * @param work Called when it is its turn; its result or rejection is passed on.
   * @param signal Aborts the wait for the turn, but not the work.
   */
  exclusively?<T>(owner: TokenOwner, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /**
   * Calls `onChange` when the sign-in may have changed, until the returned function is called. Default:
   * never.
   *
   * @param owner Address, client and account that the sign-in belongs to.
   * @param onChange Called without arguments. It may be called without a change.
   */
  watch?(owner: TokenOwner, onChange: () => void): () => void;
}

/**
 * Keeps sign-ins until the process ends. The given ones are stored at once.
 *
 * @param kept Sign-ins that are stored from the start, with their owners. They are copied. Default: none.
 *
 * @example
 * ```ts
 * import { createMemoryTokenStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', auth: { store: createMemoryTokenStore() } });
 * ```
 */
export function createMemoryTokenStore(
  kept: Iterable<readonly [owner: TokenOwner, signIn: StoredSignIn]> = [],
): TokenStore {
  const signIns = new Map<string, StoredSignIn>();
  const watchers = new Map<string, Set<() => void>>();
  const turns = new Mutex();
  const changed = (key: string): void => {
    for (const notify of watchers.get(key) ?? []) notify();
  };
  for (const [owner, signIn] of kept) signIns.set(ownerKey(owner), structuredClone(signIn));
  return {
    read: async (owner) => {
      const signIn = signIns.get(ownerKey(owner));
      return signIn === undefined ? undefined : structuredClone(signIn);
    },
    write: async (owner, signIn) => {
      signIns.set(ownerKey(owner), structuredClone(signIn));
      changed(ownerKey(owner));
    },
    forget: async (owner) => {
      signIns.delete(ownerKey(owner));
      changed(ownerKey(owner));
    },
    exclusively: (owner, work, signal) => turns.take(ownerKey(owner), work, signal),
    watch: (owner, onChange) => {
      const key = ownerKey(owner);
      const own = watchers.get(key) ?? new Set();
      watchers.set(key, own.add(onChange));
      return () => {
        own.delete(onChange);
        if (own.size === 0) watchers.delete(key);
      };
    },
  };
}

/** Whose the sign-in to that address is. */
export function ownerOf(url: string, client: string | undefined, account = ''): TokenOwner {
  return { server: serverAddress(url), client: client ?? '', ...(account !== '' && { account }) };
}

/** The same text for the same owner, however the address is spelled. */
export function ownerKey({ server, client, account = '' }: TokenOwner): string {
  const unnamed = `${serverAddress(server)}\n${client}`;
  return account === '' ? unnamed : `${unnamed}\n${account}`;
}

/** The address of a server without credentials and fragment, which do not distinguish servers. */
export function serverAddress(text: string): string {
  const url = new URL(text);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href;
}
