/**
 * The resources, resource templates and prompts that each connection listed last, as the server gave them. The machines
 * hold only counts, the events only identities; the definitions are here.
 */
import type { ExtraCounts } from '../lifecycle/status.js';
import { identityOf, type ExtraEntries, type ExtraKind } from './extra-check.js';
import { diffTexts, entryTexts, type CatalogDiff } from './list-diff.js';

type Lists = { readonly [K in ExtraKind]: readonly ExtraEntries[K][] };

const NONE: Lists = { resources: [], resourceTemplates: [], prompts: [] };

export class Extras {
  readonly #byConnection = new Map<string, Lists>();

  /** The same list until it changes. */
  get<K extends ExtraKind>(connection: string, kind: K): Lists[K] {
    return (this.#byConnection.get(connection) ?? NONE)[kind];
  }

  counts(connection: string): ExtraCounts {
    const { resources, resourceTemplates, prompts } = this.#byConnection.get(connection) ?? NONE;
    return {
      resources: resources.length,
      resourceTemplates: resourceTemplates.length,
      prompts: prompts.length,
    };
  }

  /** Replaces one list. Equal entries keep their old objects; an equal list stays, without a difference. */
  replace<K extends ExtraKind>(
    connection: string,
    kind: K,
    entries: readonly ExtraEntries[K][],
  ): CatalogDiff | undefined {
    const lists = this.#byConnection.get(connection) ?? NONE;
    const before: readonly ExtraEntries[K][] = lists[kind];
    const idOf = (entry: ExtraEntries[K]): string => identityOf(kind, entry);
    const diff = diffTexts(entryTexts(before, idOf), entryTexts(entries, idOf));
    if (diff.added.length + diff.removed.length + diff.changed.length === 0) return undefined;
    const isNew = new Set([...diff.added, ...diff.changed]);
    const old = new Map(before.map((entry) => [idOf(entry), entry]));
    const kept = entries.map((entry) => (isNew.has(idOf(entry)) ? entry : (old.get(idOf(entry)) ?? entry)));
    this.#byConnection.set(connection, { ...lists, [kind]: kept });
    return diff;
  }

  /** Deletes all lists of a connection and returns their identities. */
  delete(connection: string): { readonly [K in ExtraKind]: readonly string[] } {
    const { resources, resourceTemplates, prompts } = this.#byConnection.get(connection) ?? NONE;
    this.#byConnection.delete(connection);
    return {
      resources: resources.map(({ uri }) => uri),
      resourceTemplates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      prompts: prompts.map(({ name }) => name),
    };
  }
}
