/** A hash of a chart's behaviour. */
import type { ChartModel } from './chart-model.js';

/**
 * A hash of the chart as 16 hexadecimal digits (FNV-1a, 64 bit). Two charts with the same hash behave alike, as far as
 * names show.
 *
 * Descriptions, the order of tags and the order of a state's events do not count; the order of an event's branches
 * does. The hash does not protect against forgery.
 *
 * @param model The chart, from `chartModel`.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartHash, chartModel } from 'mcp-troupe/charts';
 *
 * console.log(chartHash(chartModel(connectionMachine)));
 * ```
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
