/**
 * Where tool lists are kept from one run to the next. Knows no server and no age: what is kept, and what of it may be
 * used, is decided in `cache.ts`.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

/** How long a list may be used, milliseconds: 30 days. */
export const OLDEST_MS = 30 * 24 * 60 * 60 * 1_000;

/** A list of tools as its server gave it, checked. */
export interface CachedCatalog {
  /** When the server gave it, milliseconds since the epoch. */
  readonly savedAt: number;
  readonly tools: readonly Tool[];
}

/**
 * Keeps tool lists by key: 64 hexadecimal digits that say which entry a list belongs to and tell nothing of it. What it
 * throws becomes a `diagnostic`; a slow one delays no start by more than a second.
 */
export interface CatalogStore {
  /** Undefined where there is none. Rejects where there is something that is none. */
  get(key: string): Promise<CachedCatalog | undefined>;
  put(key: string, catalog: CachedCatalog): Promise<void>;
  /** No error where there is none. */
  delete(key: string): Promise<void>;
}

/** Lists that are forgotten with the process: for troupes that follow each other in one. */
export function createMemoryCatalogStore(): CatalogStore {
  const byKey = new Map<string, CachedCatalog>();
  return {
    get: async (key) => byKey.get(key),
    put: async (key, catalog) => void byKey.set(key, catalog),
    delete: async (key) => void byKey.delete(key),
  };
}
