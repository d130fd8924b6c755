/** Where a local reference of a JSON Schema leads: `#`, or a JSON pointer behind it (RFC 6901, section 6). */
import type { JsonObject } from './json-object.js';

/** Undefined where it leads nowhere, or is of another kind. */
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

/** Undefined where it cannot be decoded. */
function tokensOf(reference: string): readonly string[] | undefined {
  try {
    const [, ...tokens] = decodeURIComponent(reference).split('/');
    return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined;
  }
}
