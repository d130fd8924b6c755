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

/** What became of a catalog, and how it differs from that before; undefined where it does not. */
interface Change {
  readonly catalog: Catalog;
  readonly diff: CatalogDiff | undefined;
}

/** Its hash is made when first asked for: the tools of an earlier run are known without it. */
class ListedTools implements Catalog {
  #hash: string | undefined;

  constructor(
    readonly tools: readonly Tool[],
    hash?: string,
  ) {
    this.#hash = hash;
  }

  get hash(): string {
    return (this.#hash ??= catalogHash(toTexts(this.tools)));
  }
}

function firstList(tools: readonly Tool[]): Change {
  const added = tools.map(({ name }) => name).toSorted();
  return { catalog: new ListedTools(tools), diff: { added, removed: [], changed: [] } };
}

function compare(before: Catalog, tools: readonly Tool[]): Change {
  const texts = toTexts(tools);
  const hash = catalogHash(texts);
  if (before.hash === hash) return { catalog: before, diff: undefined };
  const diff = diffTexts(toTexts(before.tools), texts);
  const isNew = new Set([...diff.added, ...diff.changed]);
  const old = new Map(before.tools.map((tool) => [tool.name, tool]));
  const kept = tools.map((tool) => (isNew.has(tool.name) ? tool : (old.get(tool.name) ?? tool)));
  return { catalog: new ListedTools(kept, hash), diff };
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
  replace(connection: string, tools: readonly Tool[], of?: ReviewedServer): Change {
    const before = this.#byConnection.get(connection);
    const change = before === undefined ? firstList(tools) : compare(before, tools);
    this.#byConnection.set(connection, change.catalog);
    this.onlisted?.(connection, change.catalog.tools, of);
    return change;
  }

  delete(connection: string): void {
    this.#byConnection.delete(connection);
    this.onlisted?.(connection, []);
  }
}
