/**
 * What is known of the servers as they show themselves to clients of one kind: a server may offer other things to a client
 * that answers other questions. Lets the connections of a further client of that kind rest until they are used.
 */
import type { Prompt, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import { createMemoryCatalogStore, type CatalogStore } from '../catalog/cache-store.js';
import type { Answers } from './answers.js';

/** What a server lists beside its tools. */
export interface ExtraOffer {
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

export class Declaration {
  readonly tools: CatalogStore = createMemoryCatalogStore();
  readonly #extras = new Map<string, { readonly hash: string; readonly extras: ExtraOffer }>();

  /** What the server with that entry listed last; undefined where nobody has asked it. */
  extras(server: string, hash: string): ExtraOffer | undefined {
    const known = this.#extras.get(server);
    return known?.hash === hash ? known.extras : undefined;
  }

  learn(server: string, hash: string, extras: ExtraOffer): void {
    this.#extras.set(server, { hash, extras });
  }
}

/** Clients choose what they declare: what is kept of them is bounded. */
const MOST_KINDS = 32;

export class Declarations {
  /** The one used last is the last. */
  readonly #byAnswers = new Map<string, Declaration>();

  of(answers: Answers): Declaration {
    const key = JSON.stringify(answers);
    const known = this.#byAnswers.get(key) ?? new Declaration();
    this.#byAnswers.delete(key);
    this.#byAnswers.set(key, known);
    for (const oldest of this.#byAnswers.keys()) {
      if (this.#byAnswers.size <= MOST_KINDS) break;
      this.#byAnswers.delete(oldest);
    }
    return known;
  }
}
