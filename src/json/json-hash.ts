/** The hash of a JSON value, which does not depend on the order of its keys. */
import { hash } from 'node:crypto';
import { canonicalJson } from './write-json.js';

/** SHA-256 of the canonical text, in hex. The value must be plain JSON of a bounded depth. */
export function hashOf(json: unknown): string {
  return hash('sha256', canonicalJson(json));
}
