/**
 * Reads JSON that others wrote: servers, clients, authorization servers, files.
 *
 * J1. Before a text is parsed, its depth and its structural characters are counted, in one pass and without memory: the time
 *     and the memory of parsing depend on them far more than on bytes. A text beyond a limit is not parsed.
 * J2. The count is the one of a JSON parser: what is within a string does not count, whatever is escaped there.
 */
import { digitGroups } from '../text/digit-groups.js';

/** Limits on one JSON text. */
export interface JsonLimits {
  /** Most arrays and objects within each other. */
  readonly depth: number;
  /** Most structural characters outside of strings: braces, brackets, colons and commas (RFC 8259, section 2). */
  readonly structure: number;
  /** How to raise `structure`, for the message about an excess. Default: it cannot be raised. */
  readonly raisedBy?: string;
}

/** What is parsed in about 200 ms on one core, whatever its shape: `tools/bench/message-limits.mjs` measures it. */
export const JSON_LIMITS: JsonLimits = { depth: 1_000, structure: 200_000 };

/** For files that Troupe writes, caches and event logs: they may hold more than one message. */
export const FILE_LIMITS: JsonLimits = { ...JSON_LIMITS, structure: Infinity };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Parses a text. Undefined if it is not JSON, or beyond a limit; no JSON text means undefined. */
export function parseJson(text: string, limits = JSON_LIMITS): unknown {
  if (excessOf(text, limits) !== undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Which limit a text exceeds, as the end of a sentence that begins with the text; undefined if none. */
export function excessOf(
  text: string,
  { depth, structure, raisedBy = '' }: JsonLimits = JSON_LIMITS,
): string | undefined {
  if (text.length <= depth && text.length <= structure) return undefined;
  let level = 0;
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = endOfString(text, index);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      level += 1;
      if (level > depth) return `nests deeper than ${digitGroups(depth)} levels`;
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) level -= 1;
    else if (code !== COMMA && code !== COLON) continue;
    count += 1;
    if (count > structure) return `has more than ${digitGroups(structure)} structural characters${raisedBy}`;
  }
  return undefined;
}

/** The index of the quote that ends the string that begins there; the end of the text if there is none. */
function endOfString(text: string, begin: number): number {
  for (let from = begin + 1; ;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    // An even number of backslashes before it: it is not escaped.
    if ((quote - before) % 2 === 1) return quote;
    from = quote + 1;
  }
}
