/** Writes JSON: for others, who must be able to read it; the same for the same value; and for a terminal. Runs in a browser. */
import { isDeeperThan, JSON_LIMITS } from './parse-json.js';
import { digitGroups } from '../text/digit-groups.js';

/**
 * The value as JSON, which nests no deeper than JSON that is read. The depth is counted: how deep a value `JSON.stringify`
 * can write depends on the runtime, and newer ones have no limit.
 *
 * Undefined for a value that JSON has no text for, such as a function.
 *
 * @throws `TypeError` if it nests deeper or contains itself. What `JSON.stringify` throws for other values that are not JSON.
 */
export function writeJson(value: unknown): string {
  if (isDeeperThan(JSON_LIMITS.depth, value)) {
    throw new TypeError(`it nests deeper than ${digitGroups(JSON_LIMITS.depth)} levels, or contains itself`);
  }
  return JSON.stringify(value);
}

// JSON text that does not depend on the order of keys (after RFC 8785). The value must be plain JSON of a bounded depth, so that
// recursion over it is safe.

export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const item = sorted((value as Record<string, unknown>)[key]);
    if (key === '__proto__') Object.defineProperty(copy, key, { value: item, enumerable: true });
    else copy[key] = item;
  }
  return copy;
}

/**
 * JSON text in which every character that controls a terminal, ends a line of code or changes what is seen is written as a
 * Unicode escape. The value stays the same. `JSON.stringify` escapes only up to U+001F.
 */
const UNSEEN = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** `indent` is the number of blanks for each level. Default: all on one line. */
export function visibleJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(UNSEEN, escaped);
}

function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, at) => char.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}
