/**
 * A short name for the behaviour of a chart. Two charts with the same hash react alike, as far as names can tell.
 */
import type { ChartModel } from './chart-model.js';

/**
 * 16 hexadecimal digits (FNV-1a, 64 bit). Descriptions, tags' order and the order in which different events of a
 * state are written do not count; the order of one event's branches does. Not a defence against forgery.
 */
export function chartHash(model: ChartModel): string {
  return fnv1a64(JSON.stringify(model, onlyBehaviour));
}

const WORDS_FOR_PEOPLE = new Set(['description', 'text']);
const ORDERED_BY_ID = new Set(['edges', 'internal']);

function onlyBehaviour(key: string, value: unknown): unknown {
  if (WORDS_FOR_PEOPLE.has(key)) return undefined;
  if (!ORDERED_BY_ID.has(key)) return value;
  return (value as readonly { readonly id: string }[]).toSorted((a, b) =>
    a.id < b.id ? -1 : a.id > b.id ? 1 : 0,
  );
}

function fnv1a64(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}
