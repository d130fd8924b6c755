/**
 * How two lists of a server differ, entry by entry and in depth. The order of entries and of keys is no difference.
 */
import { createHash } from 'node:crypto';
import { isJsonObject } from './json-object.js';

export interface CatalogDiff {
  /** Raw identities, sorted. */
  readonly added: string[];
  readonly removed: string[];
  readonly changed: string[];
}

/** Each entry of a checked list by its identity, as text. */
export type EntryTexts = ReadonlyMap<string, string>;

export function entryTexts<T extends object>(entries: readonly T[], idOf: (entry: T) => string): EntryTexts {
  return new Map(entries.map((entry) => [idOf(entry), canonicalJson(entry)]));
}

export function diffTexts(old: EntryTexts, now: EntryTexts): CatalogDiff {
  const ids = [...now.keys()].toSorted();
  return {
    added: ids.filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !now.has(id)).toSorted(),
    changed: ids.filter((id) => old.has(id) && old.get(id) !== now.get(id)),
  };
}

/** SHA-256 (hex) of a list. Equal for two lists exactly where `diffTexts` finds nothing. */
export function catalogHash(texts: EntryTexts): string {
  const lines = [...texts.values()].toSorted();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/** JSON text that does not depend on the order of keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isJsonObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
