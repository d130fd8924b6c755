/**
 * How two lists of a server differ, entry by entry and in depth. The order of entries and of keys is no difference.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../canonical-json.js';

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
  return hash('sha256', lines.join('\n'));
}
