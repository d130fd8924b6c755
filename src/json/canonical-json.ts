/**
 * JSON text, and its hash, that do not depend on the order of keys (after RFC 8785). The value must be plain JSON of a bounded
 * depth, so that recursion over it is safe.
 */
import { hash } from 'node:crypto';

export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** Copies have no prototype, so that the key `__proto__` is an ordinary one. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value).sort()) copy[key] = sorted((value as Record<string, unknown>)[key]);
  return copy;
}

/** SHA-256 of the text, in hex. */
export function hashOf(json: unknown): string {
  return hash('sha256', canonicalJson(json));
}
