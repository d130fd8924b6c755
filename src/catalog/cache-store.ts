/**
 * Where the lists of servers are kept from one run to the next: the port, and a store in memory. `cache.ts` decides what
 * is kept and what may be used.
 */
import type { Resource } from '../mcp/content.js';
import type { Prompt, ResourceTemplate, Tool } from '../mcp/server-offers.js';

/** How long a list may be used, milliseconds: 30 days. */
export const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000;

/** The lists of a server as it gave them, checked. */
export interface CachedCatalog {
  /** When the server gave them, milliseconds since the epoch. */
  readonly savedAt: number;
  /** The tools in the server's order, as MCP defines them. */
  readonly tools: readonly Tool[];
  /** Its resources. Absent if it was not asked for them yet. */
  readonly resources?: readonly Resource[];
  /** Its resource templates. Absent if it was not asked for them yet. */
  readonly resourceTemplates?: readonly ResourceTemplate[];
  /** Its prompts. Absent if it was not asked for them yet. */
  readonly prompts?: readonly Prompt[];
}

/**
 * Stores the lists of servers. A key has 64 hexadecimal digits; it identifies an entry, and what the host can do for the
 * server, without revealing them. If a method throws, a `diagnostic` is published. A slow store delays a start by at most
 * one second.
 */
export interface CatalogStore {
  /**
   * The stored lists; undefined if there are none. Rejects if the stored data is something else.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   */
  get(key: string): Promise<CachedCatalog | undefined>;
  /**
   * Stores lists in place of the former ones.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   * @param catalog All lists; they replace the former ones.
   */
  put(key: string, catalog: CachedCatalog): Promise<void>;
  /**
   * Deletes the lists. No error if there are none.
   *
   * @param key 64 hexadecimal digits that identify the entry of a server.
   */
  delete(key: string): Promise<void>;
}

/**
 * Keeps the lists of servers until the process ends. One store can serve several troupes of a process, one after
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
