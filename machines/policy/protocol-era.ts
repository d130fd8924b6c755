/**
 * The eras of MCP: versions up to 2025-11-25 open a session with `initialize`; 2026-07-28 has no sessions, and each
 * request says which version it speaks.
 */

/** `old`: with a session. `new`: without one. */
export type Era = 'old' | 'new';

/** The first version of the new era, and the only one that Troupe speaks. */
export const NEW_VERSION = '2026-07-28';

/**
 * The era of a protocol version.
 *
 * @param version Such as `2025-11-25`. Versions are dates, so they compare as text. Anything else, as a log
 *   may hold, counts as old.
 */
export function eraOf(version: unknown): Era {
  return typeof version === 'string' && version >= NEW_VERSION ? 'new' : 'old';
}
