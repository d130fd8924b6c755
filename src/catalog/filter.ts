/**
 * Which tools of a server are shown, by the patterns of its entry.
 *
 * `*` stands for any run of characters, the empty one included; everything else, `?` too, stands for itself, and case
 * counts. A pattern covers the whole raw name. Matching takes no regular expression, so no pattern can make it slow.
 */
import type { ServerSettings } from '../options.js';
import { consistsOf } from './pieces.js';

export type ToolFilter = NonNullable<ServerSettings['tools']>;

function matches(name: string, pattern: string): boolean {
  return consistsOf(name, pattern.split('*'));
}

/**
 * Whether a tool is shown. Deny wins over allow. Without an `allow` list every tool is allowed; an empty one allows
 * none, since whoever writes a list means that list.
 */
export function isAllowed(tool: string, { allow, deny = [] }: ToolFilter): boolean {
  if (deny.some((pattern) => matches(tool, pattern))) return false;
  return allow === undefined || allow.some((pattern) => matches(tool, pattern));
}
