/**
 * `src/catalog` holds what servers list: it checks the lists, keeps them, caches tools between runs, and merges them
 * into the lists that hosts and models see. This file keeps the tools that each connection listed last. The machines
 * hold only a hash and a count, the events only names; the definitions are here.
 */
import type { Tool } from '../mcp/server-offers.js';
import { catalogHash, diffTexts, type CatalogDiff } from './list-diff.js';
import { toTexts, type LeftOut } from './tool-check.js';

const NOTHING: readonly LeftOut[] = [];

export interface Catalog {
  readonly tools: readonly Tool[];
  readonly hash: string;
}

/** A catalog, and its difference from the one before; undefined if they are equal. */
interface Change {
  readonly catalog: Catalog;
  readonly diff: CatalogDiff | undefined;
}

/** Computes the hash when it is first read: the tools of an earlier run do not need it. */
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
   * Called for every list, even if it is equal, and with an empty list when a catalog is dropped. `of` is undefined if
   * the list belongs to the present entry.
   */
  onlisted: ((connection: string, tools: readonly Tool[], of?: ReviewedServer) => void) | undefined;
  readonly #byConnection = new Map<string, Catalog>();
  readonly #leftOut = new Map<string, readonly LeftOut[]>();

  get(connection: string): Catalog | undefined {
    return this.#byConnection.get(connection);
  }

  /** The entries of its last list that cannot be used. Returns the same array until the next list. */
  leftOut(connection: string): readonly LeftOut[] {
    return this.#leftOut.get(connection) ?? NOTHING;
  }

  /** Replaces the entries that cannot be used. They contain no secrets. */
  leaveOut(connection: string, entries: readonly LeftOut[]): void {
    if (entries.length === 0) this.#leftOut.delete(connection);
    else this.#leftOut.set(connection, entries);
  }

  /** Replaces the catalog of a connection. Equal tools keep their old objects; for an equal list there is no difference. */
  replace(connection: string, tools: readonly Tool[], of?: ReviewedServer): Change {
    const before = this.#byConnection.get(connection);
    const change = before === undefined ? firstList(tools) : compare(before, tools);
    this.#byConnection.set(connection, change.catalog);
    this.onlisted?.(connection, change.catalog.tools, of);
    return change;
  }

  delete(connection: string): void {
    this.#byConnection.delete(connection);
    this.#leftOut.delete(connection);
    this.onlisted?.(connection, []);
  }
}

/** The server that a list of tools belongs to. */
export interface ReviewedServer {
  /** Its configured name. */
  readonly server: string;
  /** Hash (hex) of the name and of the command or address: a different entry with the same name is a different server. */
  readonly hash: string;
}
