/**
 * The tools each connection last listed, as the server gave them. The machines hold a hash and a count, the events
 * names; whoever needs the definitions reads them here.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ReviewedServer } from '../review/review-store.js';
import { catalogHash, diffTexts, type CatalogDiff } from './list-diff.js';
import { toTexts } from './tool-check.js';

export interface Catalog {
  readonly tools: readonly Tool[];
  readonly hash: string;
}

export class Catalogs {
  /**
   * Hears of every list, an equal one included, and whose it is; of an empty one where there is none any more. Nobody
   * says whose where it is that of the present entry.
   */
  onlisted: ((connection: string, tools: readonly Tool[], of?: ReviewedServer) => void) | undefined;
  readonly #byConnection = new Map<string, Catalog>();

  get(connection: string): Catalog | undefined {
    return this.#byConnection.get(connection);
  }

  /** Replaces the catalog of a connection. Equal tools keep their old objects; an equal list gives no difference. */
  replace(
    connection: string,
    tools: readonly Tool[],
    of?: ReviewedServer,
  ): { catalog: Catalog; diff: CatalogDiff | undefined } {
    const before = this.#byConnection.get(connection);
    const texts = toTexts(tools);
    const hash = catalogHash(texts);
    if (before?.hash === hash) {
      this.onlisted?.(connection, before.tools, of);
      return { catalog: before, diff: undefined };
    }
    const diff = diffTexts(toTexts(before?.tools ?? []), texts);
    const isNew = new Set([...diff.added, ...diff.changed]);
    const old = new Map(before?.tools.map((tool) => [tool.name, tool]));
    const kept = tools.map((tool) => (isNew.has(tool.name) ? tool : (old.get(tool.name) ?? tool)));
    const catalog: Catalog = { tools: kept, hash };
    this.#byConnection.set(connection, catalog);
    this.onlisted?.(connection, kept, of);
    return { catalog, diff };
  }

  delete(connection: string): void {
    this.#byConnection.delete(connection);
    this.onlisted?.(connection, []);
  }
}
