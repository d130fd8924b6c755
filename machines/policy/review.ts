/**
 * Which tools of a server are held back: those that are other than what was approved.
 *
 * Knows tools by their names and fingerprints only; what a fingerprint is made of is the caller's business.
 *
 * H1. A tool is held unless its very fingerprint was approved last. An older approval counts for nothing.
 * H2. While nobody can tell what was approved, every tool is held.
 */

/** A tool, and the fingerprint of what its server says about it. */
export interface ToolPrint {
  /** The server's own name for it. */
  readonly tool: string;
  readonly fingerprint: string;
}

/**
 * Why a tool is held: nothing of that name was approved (`new`), something else was (`changed`), or what was approved
 * cannot be read (`unknown`).
 */
export type HeldReason = 'new' | 'changed' | 'unknown';

export interface HeldPrint extends ToolPrint {
  readonly reason: HeldReason;
}

/** Those of the listed tools that are held; `approved` is null where nobody can tell. */
export function heldOf(
  listed: readonly ToolPrint[],
  approved: readonly ToolPrint[] | null,
): readonly HeldPrint[] {
  const known = new Map(approved?.map(({ tool, fingerprint }) => [tool, fingerprint]));
  return listed
    .filter(({ tool, fingerprint }) => known.get(tool) !== fingerprint)
    .map((print) => ({ ...print, reason: reasonOf(print.tool, approved === null ? null : known) }));
}

function reasonOf(tool: string, known: ReadonlyMap<string, string> | null): HeldReason {
  if (known === null) return 'unknown';
  return known.has(tool) ? 'changed' : 'new';
}

/** One fingerprint for each tool: the last one that was given. */
export function latestPrints(...lists: readonly (readonly ToolPrint[])[]): readonly ToolPrint[] {
  const latest = new Map(lists.flat().map((print) => [print.tool, print]));
  return [...latest.values()];
}

/** Those that are among the others, too. */
export function printsAmong<T extends ToolPrint>(
  prints: readonly T[],
  others: readonly ToolPrint[],
): readonly T[] {
  const known = new Map(others.map(({ tool, fingerprint }) => [tool, fingerprint]));
  return prints.filter(({ tool, fingerprint }) => known.get(tool) === fingerprint);
}

/** Those that are not among the others. */
export function printsBeside<T extends ToolPrint>(
  prints: readonly T[],
  others: readonly ToolPrint[],
): readonly T[] {
  const among = new Set(printsAmong(prints, others));
  return prints.filter((print) => !among.has(print));
}

export function hasPrint(prints: readonly ToolPrint[], { tool, fingerprint }: ToolPrint): boolean {
  return prints.some((print) => print.tool === tool && print.fingerprint === fingerprint);
}
