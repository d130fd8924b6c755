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

/** The structural characters of a JSON value, as `excessOf` counts them in its text. Stops counting beyond `limit`. */
export function jsonStructure(value: unknown, limit: number): number {
  let count = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && count <= limit) {
    const each = rest.pop();
    if (typeof each !== 'object' || each === null) continue;
    const members = childrenOf(each);
    count += 2 + Math.max(0, members.length - 1) + (Array.isArray(each) ? 0 : members.length);
    for (const member of members) rest.push(member);
  }
  return count;
}

/** The size that counts for a value at least. */
const LEAST = 8;

/**
 * The approximate size of a JSON value: the characters of its texts and names, and `LEAST` for any other value. Stops
 * counting beyond `limit`, so that neither size nor depth nor a cycle exhausts memory.
 */
export function jsonSize(value: unknown, limit: number): number {
  let size = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && size <= limit) {
    const each = rest.pop();
    if (typeof each !== 'object' || each === null) {
      size += typeof each === 'string' ? Math.max(each.length, LEAST) : LEAST;
      continue;
    }
    size += LEAST;
    if (!Array.isArray(each)) for (const name of Object.keys(each)) size += name.length;
    for (const member of childrenOf(each)) rest.push(member);
  }
  return size;
}
