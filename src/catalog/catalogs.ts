/**
 * The tools each connection last listed, as the server gave them. The machines hold a hash and a count, the events
 * names; whoever needs the definitions reads them here.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { catalogHash, diffTools, toTexts, type CatalogDiff } from './tool-check.js';

export interface Catalog {
  readonly tools: readonly Tool[];
  readonly hash: string;
}

export class Catalogs {
  readonly #byConnection = new Map<string, Catalog>();

  get(connection: string): Catalog | undefined {
    return this.#byConnection.get(connection);
  }

  /** Replaces the catalog of a connection. Equal tools keep their old objects; an equal list gives no difference. */
  replace(connection: string, tools: readonly Tool[]): { catalog: Catalog; diff: CatalogDiff | undefined } {
    const before = this.#byConnection.get(connection);
    const texts = toTexts(tools);
    const hash = catalogHash(texts);
    if (before?.hash === hash) return { catalog: before, diff: undefined };
    const diff = diffTools(toTexts(before?.tools ?? []), texts);
    const isNew = new Set([...diff.added, ...diff.changed]);
    const old = new Map(before?.tools.map((tool) => [tool.name, tool]));
    const kept = tools.map((tool) => (isNew.has(tool.name) ? tool : (old.get(tool.name) ?? tool)));
    const catalog: Catalog = { tools: kept, hash };
    this.#byConnection.set(connection, catalog);
    return { catalog, diff };
  }

  delete(connection: string): void {
    this.#byConnection.delete(connection);
  }
}
