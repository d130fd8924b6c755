/**
 * Which tools of a server are held back: those that differ from the accepted ones.
 *
 * Knows tools by their names and fingerprints only; the caller computes the fingerprints.
 *
 * H1. A tool is held unless exactly its fingerprint was accepted last. An older acceptance does not count.
 * H2. While the accepted tools are unknown, every tool is held.
 */

import type { Tool } from '../mcp.js';

/** A tool and the fingerprint of its definition. */
export interface ToolPrint {
  /** The server's own name for it. */
  readonly tool: string;
  /** Hash of the definition. */
  readonly fingerprint: string;
}

/**
 * Why a tool is held: no tool of that name was accepted (`new`), another definition of it was (`changed`), or the accepted
 * tools cannot be read (`unknown`).
 */
export type HeldReason = 'new' | 'changed' | 'unknown';

/** A tool that is held back, and why. */
export interface HeldPrint extends ToolPrint {
  /** Why the tool is held back. */
  readonly reason: HeldReason;
}

/**
 * The listed tools that are held. `accepted` is null if the accepted tools cannot be read.
 *
 * @param listed The tools that the server lists now.
 * @param accepted The tools that were accepted last; null if they cannot be read, so that every tool is held.
 *
 * @example
 * ```ts
 * import { heldOf } from 'mcp-troupe/machines';
 *
 * const held = heldOf([{ tool: 'read', fingerprint: 'b' }], [{ tool: 'read', fingerprint: 'a' }]);
 * console.log(held[0]?.reason); // changed
 * ```
 */
export function heldOf(
  listed: readonly ToolPrint[],
  accepted: readonly ToolPrint[] | null,
): readonly HeldPrint[] {
  const known = new Map(accepted?.map(({ tool, fingerprint }) => [tool, fingerprint]));
  return listed
    .filter(({ tool, fingerprint }) => known.get(tool) !== fingerprint)
    .map((print) => ({ ...print, reason: reasonOf(print.tool, accepted === null ? null : known) }));
}

function reasonOf(tool: string, known: ReadonlyMap<string, string> | null): HeldReason {
  if (known === null) return 'unknown';
  return known.has(tool) ? 'changed' : 'new';
}

/** One fingerprint for each tool: the last one in the lists. */
export function latestPrints(...lists: readonly (readonly ToolPrint[])[]): readonly ToolPrint[] {
  const latest = new Map(lists.flat().map((print) => [print.tool, print]));
  return [...latest.values()];
}

/** The fingerprints that are also among the others. */
export function matchingPrints<T extends ToolPrint>(
  prints: readonly T[],
  others: readonly ToolPrint[],
): readonly T[] {
  const known = new Map(others.map(({ tool, fingerprint }) => [tool, fingerprint]));
  return prints.filter(({ tool, fingerprint }) => known.get(tool) === fingerprint);
}

/** The fingerprints that are not among the others. */
export function otherPrints<T extends ToolPrint>(
  prints: readonly T[],
  others: readonly ToolPrint[],
): readonly T[] {
  const among = new Set(matchingPrints(prints, others));
  return prints.filter((print) => !among.has(print));
}

export function hasPrint(prints: readonly ToolPrint[], { tool, fingerprint }: ToolPrint): boolean {
  return prints.some((print) => print.tool === tool && print.fingerprint === fingerprint);
}

/** The fields of a tool that a model reads. */
export type ReviewedTool = Pick<
  Tool,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>;

/** A field whose change makes it another tool. */
export type ReviewedField = Exclude<keyof ReviewedTool, 'name'>;
