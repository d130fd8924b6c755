/**
 * Remembers what the servers offer to clients of one kind: a server may offer different things to clients with
 * different capabilities. With that, the connections of a further client of the kind can stay dormant until they are
 * used.
 */
import type { Prompt, ResourceTemplate } from '../../mcp/server-offers.js';
import type { Resource } from '../../mcp/content.js';
import { createMemoryCatalogStore, type CatalogStore } from '../../catalog/cache-store.js';
import type { Answers } from './client-capabilities.js';

/** A server's lists other than the tools. */
export interface ExtraOffer {
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

export class Declaration {
  readonly tools: CatalogStore = createMemoryCatalogStore();
  readonly #extras = new Map<string, { readonly hash: string; readonly extras: ExtraOffer }>();

  /** The last lists of the server with that entry; undefined if they are unknown. */
  extras(server: string, hash: string): ExtraOffer | undefined {
    const known = this.#extras.get(server);
    return known?.hash === hash ? known.extras : undefined;
  }

  learn(server: string, hash: string, extras: ExtraOffer): void {
    this.#extras.set(server, { hash, extras });
  }
}

/** Clients choose what they declare, so the number of kinds is limited. */
const MAX_KINDS = 32;

export class Declarations {
  /** In the order of their last use. */
  readonly #byAnswers = new Map<string, Declaration>();

  of(answers: Answers): Declaration {
    const key = JSON.stringify(answers);
    const known = this.#byAnswers.get(key) ?? new Declaration();
    this.#byAnswers.delete(key);
    this.#byAnswers.set(key, known);
    for (const oldest of this.#byAnswers.keys()) {
      if (this.#byAnswers.size <= MAX_KINDS) break;
      this.#byAnswers.delete(oldest);
    }
    return known;
  }
}
