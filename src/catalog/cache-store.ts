/**
 * Where tool lists are kept from one run to the next: the port, and a store in memory. `cache.ts` decides what is kept
 * and what may be used.
 */
import type { Tool } from '../mcp/server-offers.js';

/** How long a list may be used, milliseconds: 30 days. */
export const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000;

/** A list of tools as its server gave it, checked. */
export interface CachedCatalog {
  /** When the server gave it, milliseconds since the epoch. */
  readonly savedAt: number;
  /** The tools in the server's order, as MCP defines them. */
  readonly tools: readonly Tool[];
}

/**
 * Stores lists of tools. A key has 64 hexadecimal digits; it identifies an entry without revealing it. If a
 * method throws, a `diagnostic` is published. A slow store delays a start by at most one second.
 */
export interface CatalogStore {
  /**
   * The stored list; undefined if there is none. Rejects if the stored data is not a list.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   */
  get(key: string): Promise<CachedCatalog | undefined>;
  /**
   * Stores a list in place of the former one.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   * @param catalog The whole list; it replaces the former one.
   */
  put(key: string, catalog: CachedCatalog): Promise<void>;
  /**
   * Deletes a list. No error if there is none.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   */
  delete(key: string): Promise<void>;
}

/**
 * Keeps lists of tools until the process ends. One store can serve several troupes of a process, one after
 * the other.
 *
 * @example
 * ```ts
 * import { createMemoryCatalogStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', cache: createMemoryCatalogStore() });
 * ```
 */
export function createMemoryCatalogStore(): CatalogStore {
  const byKey = new Map<string, CachedCatalog>();
  return {
    get: async (key) => byKey.get(key),
    put: async (key, catalog) => void byKey.set(key, catalog),
    delete: async (key) => void byKey.delete(key),
  };
}
