/** The depth and the size of a JSON value, measured without recursion. */

/** Values of a server that are kept nest at most this deep, so that recursion over them is safe. */
export const MAX_DEPTH = 200;
const WIDE = 100;

function childrenOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value : Object.values(value);
}

/** Goes level by level, and visits each object of a wide level once, so that neither depth nor a cycle exhausts memory. */
export function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    const below: unknown[] = [];
    for (const each of level) {
      for (const child of childrenOf(each)) if (typeof child === 'object') below.push(child);
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

/**
 * Measures a JSON value in one walk. Stops as soon as the size or the structure exceeds `most`, so that neither size nor depth
 * nor a cycle exhausts memory.
 */
export function jsonExtent(value: unknown, most: JsonExtent): JsonExtent {
  let size = 0;
  let structure = 0;
  const rest: object[] = [];
  const add = (member: unknown): void => {
    size += typeof member === 'string' ? Math.max(member.length, LEAST) : LEAST;
    if (typeof member === 'object' && member !== null) rest.push(member);
  };
  add(value);
  while (rest.length > 0 && size <= most.size && structure <= most.structure) {
    const each = rest.pop() as object;
    const names = Array.isArray(each) ? undefined : Object.keys(each);
    const members = names?.length ?? (each as readonly unknown[]).length;
    structure += 2 + Math.max(0, members - 1) + (names === undefined ? 0 : members);
    // Each member has at least this size.
    if (size + members * LEAST > most.size) size += members * LEAST;
    else if (names === undefined) for (const member of each as readonly unknown[]) add(member);
    else
      for (const name of names) {
        size += name.length;
        add((each as Readonly<Record<string, unknown>>)[name]);
      }
  }
  return { size, structure };
}

/** The size of a JSON value. Stops counting beyond `limit`. */
export function jsonSize(value: unknown, limit: number): number {
  return jsonExtent(value, { size: limit, structure: Infinity }).size;
}
