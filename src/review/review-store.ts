/**
 * Where the tools that were approved are remembered: the port, and a store that lives as long as the process.
 */
import type { ReviewedTool } from './fingerprint.js';

/** Whose tools they are. */
export interface ReviewedServer {
  /** Its configured name. */
  readonly server: string;
  /** Hash (hex) of the name and of what is started or reached: another entry of the same name is another server. */
  readonly hash: string;
}

/** A tool as it is remembered. */
export interface RememberedTool extends ReviewedTool {
  /** Of the tool as its server had it, where that cannot be told from what is here: a secret of its entry was struck out. */
  readonly fingerprint?: string;
}

/**
 * What rejects, or takes longer than 10 s, leaves every tool of the server held, and is told as a `diagnostic`. Where
 * several processes share a store, none may take away what another one wrote.
 */
export interface ReviewStore {
  /**
   * The tools of that server as they were approved last. Where nothing is known of it, those of `first` become that,
   * at once and for whoever else asks: a list that could not be remembered must not be given back.
   */
  baseline(
    server: ReviewedServer,
    first: readonly RememberedTool[],
  ): Promise<readonly RememberedTool[]> | readonly RememberedTool[];
  /** From here on these are the approved ones of their names. The other tools stay as they are. */
  approve(server: ReviewedServer, tools: readonly RememberedTool[]): Promise<void> | void;
  /**
   * Tells of approvals that came from elsewhere, with the hash of their server; ends with the function it gives back.
   * Without it they count for the next start.
   */
  watch?(onChange: (hash: string) => void): () => void;
}

/** Approvals that are forgotten with the process. */
export function createMemoryReviewStore(): ReviewStore {
  return createOwnReviewStore().store;
}

/** Servers that are gone and may come back; of more, those that went first are forgotten. */
const MOST_GONE = 1_000;

export interface OwnReviewStore {
  readonly store: ReviewStore;
  /** Nobody lists the tools of that server any more, unless it comes back. A store of the host's is not told. */
  readonly gone?: ((server: ReviewedServer) => void) | undefined;
}

/** A store that does not grow with the servers that have come and gone. */
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
      approve: ({ hash }, tools) => {
        const now = new Map([...(servers.get(hash) ?? []), ...tools].map((tool) => [tool.name, tool]));
        servers.set(hash, [...now.values()]);
      },
    },
    gone: ({ hash }) => {
      gone.delete(hash);
      gone.add(hash);
      for (const oldest of gone) {
        if (gone.size <= MOST_GONE) break;
        gone.delete(oldest);
        servers.delete(oldest);
      }
    },
  };
}
