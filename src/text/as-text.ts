/**
 * A value of which anything may be expected, as text: an object as JSON. Never throws, unlike `String`, which calls what an
 * object of a peer has for `toString`.
 */
export function asText(value: unknown): string {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'symbol':
    case 'undefined':
      return String(value);
    default:
      return jsonOf(value) ?? 'an object';
  }
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
