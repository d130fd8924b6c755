/**
 * Where sign-ins are kept: the port, and a store that forgets everything with the process.
 *
 * K1. What is kept belongs to one server address and one client; nothing of it is used for another.
 * K2. Who changes a sign-in does so within `exclusively`, and reads what is kept there first: somebody else may have
 *     renewed it meanwhile, and that counts.
 */
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { Turns } from './turns.js';

/** Whose sign-in it is. */
export interface TokenOwner {
  /** Address of the server, without credentials and fragment. */
  readonly server: string;
  /** The given client id, or the address of the client's metadata document; empty for a client that registers itself. */
  readonly client: string;
}

/** One sign-in. Plain JSON, and secret. */
export interface StoredSignIn {
  readonly tokens?: OAuthTokens;
  /** When the access token ends, milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** The client as the authorization server registered it. */
  readonly client?: OAuthClientInformationMixed;
  /** The redirect it was registered for. */
  readonly redirectUrl?: string;
}

/** A store may be the host's own. A rejection of any method fails what needed it, and nothing else. */
export interface TokenStore {
  read(owner: TokenOwner): Promise<StoredSignIn | undefined>;
  write(owner: TokenOwner, signIn: StoredSignIn): Promise<void>;
  forget(owner: TokenOwner): Promise<void>;
  /**
   * Runs the work while nobody else does who shares what is kept, in this process or in another; the signal gives up
   * waiting for the turn. Default: one after the other within a troupe.
   */
  exclusively?<T>(owner: TokenOwner, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Calls `onChange` when somebody may have changed the sign-in, until the returned function is called. Default: never. */
  watch?(owner: TokenOwner, onChange: () => void): () => void;
}

/** Forgets with the process. What is given is kept as if it had been written. */
export function createMemoryTokenStore(
  kept: Iterable<readonly [owner: TokenOwner, signIn: StoredSignIn]> = [],
): TokenStore {
  const signIns = new Map<string, StoredSignIn>();
  const watchers = new Map<string, Set<() => void>>();
  const turns = new Turns();
  const changed = (key: string): void => {
    for (const tell of watchers.get(key) ?? []) tell();
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
export function ownerOf(url: string, client: string | undefined): TokenOwner {
  return { server: serverAddress(url), client: client ?? '' };
}

/** The same text for the same owner, however the address is spelled. */
export function ownerKey({ server, client }: TokenOwner): string {
  return `${serverAddress(server)}\n${client}`;
}

/** The address of a server as it counts here: without credentials and fragment, which name no other server. */
export function serverAddress(text: string): string {
  const url = new URL(text);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href;
}
