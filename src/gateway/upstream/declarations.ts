/**
 * Remembers what the servers offer to clients of one kind: a server may offer different things to clients with different
 * capabilities. With that, the connections of a further client of the kind can stay dormant until they are used.
 */
import { createMemoryCatalogStore, type CatalogStore } from '../../catalog/cache-store.js';
import type { Answers } from './client-capabilities.js';

/** Clients choose what they declare, so the number of kinds is limited. */
const MAX_KINDS = 32;

export class Declarations {
  /** In the order of their last use. */
  readonly #byAnswers = new Map<string, CatalogStore>();

  /** The lists of the servers for clients that declare that. */
  of(answers: Answers): CatalogStore {
    const key = JSON.stringify(answers);
    const known = this.#byAnswers.get(key) ?? createMemoryCatalogStore();
    this.#byAnswers.delete(key);
    this.#byAnswers.set(key, known);
    for (const oldest of this.#byAnswers.keys()) {
      if (this.#byAnswers.size <= MAX_KINDS) break;
      this.#byAnswers.delete(oldest);
    }
    return known;
  }
}
