/**
 * A fingerprint of the meaning of an entry.
 *
 * H1. Formatting, order of keys, comments, other hosts' fields and explicit defaults do not change it.
 * H2. It is taken from the unexpanded entry: it depends on no value of a variable.
 * H3. A server object of this process has no content to hash: two such entries with equal settings have the same hash.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../json/canonical-json.js';
import type { ServerConfig } from './server-config.js';

/** SHA-256 of a validated entry, in hex. */
export function entryHash(config: ServerConfig): string {
  if (!('server' in config)) return hashOf(config);
  const { server: _, ...described } = config;
  return hashOf(described);
}

/** SHA-256, in hex, of plain JSON. The order of keys does not matter (after RFC 8785). */
export function hashOf(json: unknown): string {
  return hash('sha256', canonicalJson(json));
}
