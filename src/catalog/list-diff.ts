/**
 * Compares two lists: by their entries in depth, ignoring the order of entries and of keys, or by the identity of their
 * objects.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../json/write-json.js';

export interface CatalogDiff {
  /** Raw identities, sorted. */
  readonly added: string[];
  readonly removed: string[];
  readonly changed: string[];
}

/** The entries of a checked list as text, by identity. */
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

/** SHA-256 (hex) of a list. Two lists have equal hashes exactly if `diffTexts` finds no difference. */
export function catalogHash(texts: EntryTexts): string {
  const lines = [...texts.values()].toSorted();
  return hash('sha256', lines.join('\n'));
}

/** Whether two lists hold the same objects in the same order. */
export function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}
