/** JSON pointers (RFC 6901), and the local references of a JSON Schema: `#`, or `#` and a pointer (section 6). */
import type { JsonObject } from './json-object.js';

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
