/** How deep a JSON value nests, asked without recursion. */

/** What is kept of a server nests at most so deep, so that recursion over it is safe. */
export const MAX_DEPTH = 200;
const WIDE = 100;

function childrenOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

/** Level by level and in a wide level each object once, so that neither depth nor a cycle can exhaust anything. */
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
