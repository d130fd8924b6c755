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
  const servers = new Map<string, readonly RememberedTool[]>();
  return {
    baseline: ({ hash }, first) => {
      const known = servers.get(hash) ?? [...first];
      servers.set(hash, known);
      return [...known];
    },
    approve: ({ hash }, tools) => {
      const now = new Map([...(servers.get(hash) ?? []), ...tools].map((tool) => [tool.name, tool]));
      servers.set(hash, [...now.values()]);
    },
  };
}
