/**
 * Entries of hosts that replace no variables: what looks like a reference there is only text, and has to be written so
 * that it stays text here.
 */
import type { RawEntry } from './entry-fields.js';
import { isObject } from './read-shape.js';
import { escapeTemplate } from './template.js';

/** Fields that are read like a command line, under any host's name for them. */
const SHELL_LIKE = new Set(['command', 'cmd', 'args', 'cwd']);

/** The entry with every text outside of the `expanded` fields escaped. */
export function asLiteral(entry: RawEntry, expanded: readonly string[]): RawEntry {
  return Object.fromEntries(
    Object.entries(entry).map(([field, value]) => [
      field,
      expanded.includes(field) ? value : escaped(value, SHELL_LIKE.has(field)),
    ]),
  );
}

function escaped(value: unknown, bareNames: boolean): unknown {
  if (typeof value === 'string') return escapeTemplate(value, bareNames);
  if (Array.isArray(value)) return value.map((item: unknown) => escaped(item, bareNames));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escaped(item, bareNames)]));
}
