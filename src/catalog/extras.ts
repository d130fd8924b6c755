/**
 * The resources, resource templates and prompts that each connection listed last, as the server gave them. The machines
 * hold only counts, the events only identities; the definitions are here.
 */
import type { ExtraCounts } from '../lifecycle/status.js';
import { EXTRA_KINDS, identityOf, type ExtraEntries, type ExtraKind } from './extra-check.js';
import { diffTexts, entryTexts, type CatalogDiff } from './list-diff.js';

/** The lists other than tools. */
export type ExtraOffer = { readonly [K in ExtraKind]: readonly ExtraEntries[K][] };

/** Those that are known: a list that was never read is absent. */
export type KnownExtras = Partial<ExtraOffer>;

export type ExtraIds = { readonly [K in ExtraKind]: readonly string[] };

const NONE: ExtraOffer = { resources: [], resourceTemplates: [], prompts: [] };
const UNKNOWN: KnownExtras = {};

export class Extras {
  readonly #byConnection = new Map<string, KnownExtras>();

  /** The same list until it changes. */
  get<K extends ExtraKind>(connection: string, kind: K): ExtraOffer[K] {
    return this.#offer(connection)[kind];
  }

  /** The lists that were read, or are known from an earlier run. */
  known(connection: string): KnownExtras {
    return this.#byConnection.get(connection) ?? UNKNOWN;
  }

  /** Whether every list is known. */
  areKnown(connection: string): boolean {
    return EXTRA_KINDS.every((kind) => this.known(connection)[kind] !== undefined);
  }

  counts(connection: string): ExtraCounts {
    const { resources, resourceTemplates, prompts } = this.#offer(connection);
    return {
      resources: resources.length,
      resourceTemplates: resourceTemplates.length,
      prompts: prompts.length,
    };
  }

  /** Takes over lists of an earlier run. */
  restore(connection: string, lists: KnownExtras): void {
    this.#byConnection.set(connection, { ...this.known(connection), ...lists });
  }

  /** Replaces one list. Equal entries keep their old objects; an equal list stays, without a difference. */
  replace<K extends ExtraKind>(
    connection: string,
    kind: K,
    entries: readonly ExtraEntries[K][],
  ): CatalogDiff | undefined {
    const lists = this.known(connection);
    const before: readonly ExtraEntries[K][] = this.get(connection, kind);
    const idOf = (entry: ExtraEntries[K]): string => identityOf(kind, entry);
    const diff = diffTexts(entryTexts(before, idOf), entryTexts(entries, idOf));
    if (diff.added.length + diff.removed.length + diff.changed.length === 0) {
      if (lists[kind] === undefined) this.#byConnection.set(connection, { ...lists, [kind]: before });
      return undefined;
    }
    const isNew = new Set([...diff.added, ...diff.changed]);
    const old = new Map(before.map((entry) => [idOf(entry), entry]));
    const kept = entries.map((entry) => (isNew.has(idOf(entry)) ? entry : (old.get(idOf(entry)) ?? entry)));
    this.#byConnection.set(connection, { ...lists, [kind]: kept });
    return diff;
  }

  /** Deletes all lists of a connection and returns their identities. */
  delete(connection: string): ExtraIds {
    const ids = this.ids(connection);
    this.#byConnection.delete(connection);
    return ids;
  }

  ids(connection: string): ExtraIds {
    const { resources, resourceTemplates, prompts } = this.#offer(connection);
    return {
      resources: resources.map(({ uri }) => uri),
      resourceTemplates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      prompts: prompts.map(({ name }) => name),
    };
  }

  #offer(connection: string): ExtraOffer {
    return { ...NONE, ...this.known(connection) };
  }
}
