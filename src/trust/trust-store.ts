/**
 * Where the trusted entries of project files are remembered: the port, and a store that lives as long as the process.
 *
 * A trusted entry is identified by the hash of its request, so a changed entry must be trusted again.
 */
import type { TrustRequest } from './trust-request.js';

/** What was trusted: enough to recognize it. */
export type TrustedEntry = Pick<TrustRequest, 'hash' | 'server' | 'source' | 'folder'>;

/**
 * Stores trusted entries. If a method rejects, the entry counts as not trusted and a `diagnostic` is published.
 * Processes that share a store must not remove what another one stored.
 */
export interface TrustStore {
  /**
   * Whether the request with this hash is trusted. Called before every attempt to start a server that needs trust.
   *
   * @param hash `hash` of the trust request.
   */
  has(hash: string): Promise<boolean> | boolean;
  /** All trusted entries. Called when the configuration is read. */
  list(): Promise<readonly TrustedEntry[]> | readonly TrustedEntry[];
  /**
   * Stores the trust in an entry. Trusting it again is no error.
   *
   * @param request What the person was shown. At least `hash`, `server`, `source` and `folder` must be stored.
   */
  trust(request: TrustRequest): Promise<void> | void;
  /**
   * Removes a trusted entry. No error if there is none.
   *
   * @param hash `hash` of the trust request.
   */
  revoke(hash: string): Promise<void> | void;
  /**
   * Calls `onChange` when another process has changed the trusted entries, until the returned function is called.
   * Without it, such a change counts for the next attempt.
   *
   * @param onChange Called without arguments. It may be called without a change.
   */
  watch?(onChange: () => void): () => void;
}

/**
 * Keeps trusted entries until the process ends.
 *
 * @example
 * ```ts
 * import { createMemoryTrustStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', trustStore: createMemoryTrustStore() });
 * ```
 */
export function createMemoryTrustStore(): TrustStore {
  const entries = new Map<string, TrustedEntry>();
  return {
    has: (hash) => entries.has(hash),
    list: () => [...entries.values()],
    trust: (request) => void entries.set(request.hash, toTrustedEntry(request)),
    revoke: (hash) => void entries.delete(hash),
  };
}

/** Without the fields that are only shown to the person. */
export function toTrustedEntry({ hash, server, source, folder }: TrustedEntry): TrustedEntry {
  return { hash, server, source, folder };
}
