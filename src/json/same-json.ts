/**
 * Whether two values are the same JSON; the order of fields does not count. It runs for every row of the status after each
 * batch of events, so it allocates nothing. Runs in a browser.
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Number.isNaN(a) && Number.isNaN(b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  for (const key in a) if (!isSameJson(a[key as never], b[key as never])) return false;
  for (const key in b) if (b[key as never] !== undefined && a[key as never] === undefined) return false;
  return true;
}
