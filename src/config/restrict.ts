/**
 * What several sources that name the same server come to together. Nobody gets more than each of them allows: a
 * source that is not used still counts where it restricts.
 */
import { isAllowed } from '../catalog/filter.js';
import type { ServerConfig, ServerSettings } from '../options.js';

type Tools = NonNullable<ServerSettings['tools']>;

/**
 * The first entry with the others' restrictions: lists of allowed tools intersect, those of denied ones unite. The
 * same object where nothing changes.
 */
export function restrictTools(winner: ServerConfig, others: readonly ServerConfig[]): ServerConfig {
  const all = [winner, ...others].flatMap(({ tools }) => tools ?? []);
  const allow = all
    .flatMap((tools) => (tools.allow === undefined ? [] : [tools.allow]))
    .reduce<readonly string[] | undefined>((one, other) => (one ? intersect(one, other) : other), undefined);
  const deny = [...new Set(all.flatMap((tools) => tools.deny ?? []))];
  if (isSame(winner.tools, allow, deny)) return winner;
  const tools: Tools = { ...(allow && { allow }), ...(deny.length > 0 && { deny }) };
  return { ...winner, tools };
}

function isSame(
  tools: Tools | undefined,
  allow: readonly string[] | undefined,
  deny: readonly string[],
): boolean {
  return (
    JSON.stringify(tools?.allow) === JSON.stringify(allow) &&
    JSON.stringify(tools?.deny ?? []) === JSON.stringify(deny)
  );
}

/**
 * Patterns that only cover what both lists cover. Of two patterns the narrower one stays; two that merely overlap, such
 * as `a*` and `*b`, have no common pattern and fall away.
 */
function intersect(one: readonly string[], other: readonly string[]): readonly string[] {
  const narrower = (patterns: readonly string[], limits: readonly string[]): readonly string[] =>
    patterns.filter((pattern) => limits.some((limit) => isAllowed(pattern, { allow: [limit] })));
  return [...new Set([...narrower(one, other), ...narrower(other, one)])];
}
