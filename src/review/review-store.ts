/** Where accepted tools are kept: the port, and a store in memory. */
import type { ReviewedServer } from '../catalog/catalogs.js';
import type { ReviewedTool } from '../../machines/policy/review.js';

/** An accepted tool in the store. */
export interface RememberedTool extends ReviewedTool {
  /**
   * Fingerprint of the tool as the server had it. Present if a secret of the entry was removed, so that it
   * cannot be computed from this record.
   */
  readonly fingerprint?: string;
}

/**
 * Stores accepted tools. If a method rejects or takes longer than 10 s, every tool of the server is held and
 * a `diagnostic` is published. Processes that share a store must not remove each other's acceptances.
 */
export interface ReviewStore {
  /**
   * The accepted tools of a server. If there are none yet, `first` becomes the baseline atomically, for every
   * process. A list that could not be stored must not be returned.
   *
   * @param server The server; its `hash` identifies it across processes.
   * @param first The tools that the server lists now.
   */
  baseline(
    server: ReviewedServer,
    first: readonly RememberedTool[],
  ): Promise<readonly RememberedTool[]> | readonly RememberedTool[];
  /**
   * Stores accepted tools. Other tools of the server stay as they are.
   *
   * @param server The server; its `hash` identifies it across processes.
   * @param tools The accepted tools. Each replaces the accepted tool of the same name.
   */
  accept(server: ReviewedServer, tools: readonly RememberedTool[]): Promise<void> | void;
  /**
   * Calls `onChange` with the hash of a server when another process has changed its accepted tools, until the
   * returned function is called. Without it, such an acceptance counts for the next start.
   *
   * @param onChange Called with the `hash` of the server. It may be called without a change.
   */
  watch?(onChange: (hash: string) => void): () => void;
}

/**
 * Keeps accepted tools until the process ends.
 *
 * @example
 * ```ts
 * import { createMemoryReviewStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', review: { mode: 'hold-changes', store: createMemoryReviewStore() } });
 * ```
 */
export function createMemoryReviewStore(): ReviewStore {
  return createOwnReviewStore().store;
}

/** Most removed servers that are remembered, since they may come back; the oldest are forgotten first. */
const MAX_GONE = 1_000;

export interface OwnReviewStore {
  readonly store: ReviewStore;
  /** Called when a server is removed; it may come back. Undefined for a store of the host. */
  readonly gone?: ((server: ReviewedServer) => void) | undefined;
}

/** A store whose size does not grow with removed servers. */
export function createOwnReviewStore(): OwnReviewStore {
  const servers = new Map<string, readonly RememberedTool[]>();
  const gone = new Set<string>();
  return {
    store: {
      baseline: ({ hash }, first) => {
        gone.delete(hash);
        const known = servers.get(hash) ?? [...first];
        servers.set(hash, known);
        return [...known];
      },
      accept: ({ hash }, tools) => {
        const now = new Map([...(servers.get(hash) ?? []), ...tools].map((tool) => [tool.name, tool]));
        servers.set(hash, [...now.values()]);
      },
    },
    gone: ({ hash }) => {
      gone.delete(hash);
      gone.add(hash);
      for (const oldest of gone) {
        if (gone.size <= MAX_GONE) break;
        gone.delete(oldest);
        servers.delete(oldest);
      }
    },
  };
}
