/** What a value takes at least that is neither text nor a name. */
const LEAST = 8;

/**
 * About how much a JSON value holds: the characters of its texts and names, and a little for everything else. Stops
 * counting beyond `limit`, so that neither size nor depth nor a cycle can exhaust anything.
 */
export function jsonSize(value: unknown, limit: number): number {
  let size = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && size <= limit) {
    const each = rest.pop();
    size += typeof each === 'string' ? Math.max(each.length, LEAST) : LEAST;
    if (typeof each !== 'object' || each === null) continue;
    for (const [name, member] of Object.entries(each)) {
      if (!Array.isArray(each)) size += name.length;
      rest.push(member);
    }
  }
  return size;
}
