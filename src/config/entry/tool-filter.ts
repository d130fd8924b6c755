/**
 * Decides which tools of a server are shown and which of them are pinned, by the patterns of its entry.
 *
 * `*` stands for any run of characters, including the empty one. Every other character, even `?`, stands for itself,
 * and case matters. A pattern covers the whole raw name. Matching uses no regular expression, so no pattern can make it
 * slow.
 */
import type { ServerSettings } from './server-config.js';
import { matchesSegments } from '../../text/matches-segments.js';

export type ToolFilter = NonNullable<ServerSettings['tools']>;

/** Always the same object, so that an unchanged filter is recognized. */
export const NO_FILTER: ToolFilter = {};

function matches(name: string, pattern: string): boolean {
  return matchesSegments(name, pattern.split('*'));
}

/**
 * Whether a tool is shown. Deny takes precedence over allow. Without an `allow` list every tool is allowed; an empty
 * list allows none, because an explicit list is meant as written.
 */
export function isAllowed(tool: string, { allow, deny = [] }: ToolFilter): boolean {
  if (deny.some((pattern) => matches(tool, pattern))) return false;
  return allow === undefined || allow.some((pattern) => matches(tool, pattern));
}

/** Whether a tool is always offered to a model. */
export function isPinned(tool: string, { pinned = [] }: Pick<ToolFilter, 'pinned'>): boolean {
  return pinned.some((pattern) => matches(tool, pattern));
}
