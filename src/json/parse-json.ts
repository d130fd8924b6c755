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

// The depth and the size of a JSON value, measured without recursion.

/** Values of a server that are kept nest at most this deep, so that recursion over them is safe. */
export const MAX_DEPTH = 200;
const WIDE = 100;

function childrenOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value : Object.values(value);
}

function isNesting(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * Whether more than `limit` arrays and objects are within each other. Goes level by level, and visits each object of a wide
 * level once, so that neither depth nor a cycle exhausts memory.
 */
export function isDeeperThan(limit: number, value: unknown): boolean {
  let level = isNesting(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    const below: unknown[] = [];
    for (const each of level) {
      for (const child of childrenOf(each)) if (isNesting(child)) below.push(child);
    }
    level = below.length > WIDE ? [...new Set(below)] : below;
  }
  return false;
}

/** How large a JSON value is. */
export interface JsonExtent {
  /** The characters of its strings and names, and `LEAST` for any other value. */
  readonly size: number;
  /** The structural characters, as `excessOf` counts them in its text. */
  readonly structure: number;
}

/** The size that counts for a value at least. */
const LEAST = 8;

function sizeOf(value: unknown): number {
  return typeof value === 'string' ? Math.max(value.length, LEAST) : LEAST;
}

/**
 * Measures a JSON value in one walk. Stops as soon as the size or the structure exceeds `most`, so that neither size nor depth
 * nor a cycle exhausts memory.
 */
export function jsonExtent(value: unknown, most: JsonExtent): JsonExtent {
  let size = sizeOf(value);
  let structure = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && size <= most.size && structure <= most.structure) {
    const each = rest.pop();
    if (typeof each !== 'object' || each === null) continue;
    const members = childrenOf(each);
    const names = Array.isArray(each) ? undefined : Object.keys(each);
    structure += 2 + Math.max(0, members.length - 1) + (names?.length ?? 0);
    // Each member has at least this size.
    if (size + members.length * LEAST > most.size) size += members.length * LEAST;
    else {
      for (const name of names ?? []) size += name.length;
      for (const member of members) {
        size += sizeOf(member);
        if (typeof member === 'object') rest.push(member);
      }
    }
  }
  return { size, structure };
}

/** The size of a JSON value. Stops counting beyond `limit`. */
export function jsonSize(value: unknown, limit: number): number {
  return jsonExtent(value, { size: limit, structure: Infinity }).size;
}

/**
 * Limits on what servers send. Within the defaults, one message keeps the event loop for about 200 ms at most
 * (`tools/bench/message-limits.mjs`). A message beyond a
 * limit is dropped with a `diagnostic`; if it answers a call, that call fails.
 */
export interface MessageLimits {
  /** Most bytes of one message of a server on stdio. Default 16 MiB. */
  readonly stdioMessageBytes?: number;
  /** Most bytes of one message of a remote server. Default 16 MiB. */
  readonly remoteMessageBytes?: number;
  /**
   * Most structural characters of one message of a server: braces, brackets, colons and commas outside of strings. They
   * decide how long a message takes to parse. Default 200,000. A message also nests at most 1,000 levels.
   */
  readonly structuralCharacters?: number;
  /** Most entries of one list of a server, such as its tools, over all pages; the rest is left out. Default 2,000. */
  readonly listEntries?: number;
  /**
   * Most events in a second that one server causes by log messages, progress and other notifications; the rest is left out
   * and counted in a `diagnostic`. Callbacks of calls get all progress. Default 1,000.
   */
  readonly eventsPerSecond?: number;
}
