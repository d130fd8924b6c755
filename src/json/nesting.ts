/** The depth and the size of a JSON value, measured without recursion. */

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
