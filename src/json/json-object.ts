/**
 * JSON values in memory: objects with unknown fields, comparing, and JSON pointers. Runs in a browser.
 *
 * The folder `json` holds helpers for plain JSON values: reading, writing, comparing, measuring and freezing them. They know
 * nothing of MCP.
 */

/** A JSON object with unknown fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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

// JSON pointers (RFC 6901), and the local references of a JSON Schema: `#`, or `#` and a pointer (section 6).

/** The value that the reference points to; undefined if there is none, or the reference is not local. */
export function referredTo(reference: unknown, root: JsonObject): unknown {
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return undefined;
  const tokens = tokensOf(reference);
  if (tokens === undefined) return undefined;
  let target: unknown = root;
  for (const token of tokens) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, token)) return undefined;
    target = (target as JsonObject)[token];
  }
  return target;
}

/** Undefined if it cannot be decoded. */
function tokensOf(reference: string): readonly string[] | undefined {
  try {
    const [, ...tokens] = decodeURIComponent(reference).split('/');
    return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined;
  }
}

/** A name as one token of a JSON pointer. */
export function pointerToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
