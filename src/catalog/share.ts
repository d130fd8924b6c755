/** What one server has a part in the list of tools with, and what that was made from. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Catalog } from './catalogs.js';
import { compareText } from './compare-text.js';
import { isAllowed, type ToolFilter } from './filter.js';
import type { ToolIdentity } from './naming.js';
import type { CatalogTool } from './registry.js';

export interface Share {
  readonly server: string;
  readonly catalog: Catalog | undefined;
  readonly filter: ToolFilter;
  readonly held: ReadonlySet<string>;
  readonly source: string;
  readonly stale: boolean;
  /** Sorted by name. */
  readonly definitions: readonly Tool[];
  /** Theirs where no two tools of the catalog share one. */
  readonly names: readonly string[];
}

export function allowedOf(
  catalog: Catalog | undefined,
  filter: ToolFilter,
  held: ReadonlySet<string>,
): readonly Tool[] {
  const allowed = (catalog?.tools ?? []).filter(({ name }) => isAllowed(name, filter) && !held.has(name));
  return allowed.toSorted((a, b) => compareText(a.name, b.name));
}

export function toIdentities({ server, definitions }: Pick<Share, 'server' | 'definitions'>): ToolIdentity[] {
  return definitions.map(({ name }) => ({ server, tool: name }));
}

/** Catalogs keep the objects of equal tools, so identity tells whether something of a definition changed. */
export function isMadeOf(made: CatalogTool, { server, source, stale }: Share, definition: Tool): boolean {
  return (
    made.server === server &&
    made.tool === definition.name &&
    made.source === source &&
    made.stale === stale &&
    made.title === definition.title &&
    made.description === definition.description &&
    made.inputSchema === definition.inputSchema &&
    made.outputSchema === definition.outputSchema &&
    made.annotations === definition.annotations
  );
}
