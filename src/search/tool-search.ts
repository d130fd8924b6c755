/** The search over the tools of a troupe. The index is loaded and made at the first search. */
import type { CatalogTool } from '../catalog/registry.js';
import type { ToolField, ToolIndex } from './tool-index.js';

/** A tool that matches the words of a search. */
export interface FoundTool {
  /** The tool, as in `tools`. */
  readonly tool: CatalogTool;
  /** How well it matches: above 0, and comparable only within one answer. */
  readonly score: number;
  /** Why it matches: the stems of the words that were found, and the fields of the tool that contain them. */
  readonly matches: Readonly<Record<string, readonly ToolField[]>>;
}

/** Options of a search for tools. */
export interface ToolSearchOptions {
  /** Maximum number of tools: 1 to 1,000. Default 5. */
  readonly limit?: number;
  /** Names of the servers whose tools are searched. Default: all. */
  readonly servers?: readonly string[];
}

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 1_000;

export class ToolSearch {
  readonly #tools: () => readonly CatalogTool[];
  #index: Promise<ToolIndex<CatalogTool>> | undefined;

  constructor(tools: () => readonly CatalogTool[]) {
    this.#tools = tools;
  }

  /** Searches only among tools that `offers` accepts. */
  async search(
    query: string,
    { limit = DEFAULT_LIMIT, servers }: ToolSearchOptions,
    offers: (tool: CatalogTool) => boolean = () => true,
  ): Promise<readonly FoundTool[]> {
    if (typeof query !== 'string') throw new TypeError('searchTools: the query is not a string.');
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
      throw new TypeError(`searchTools: 'limit' is not a whole number from 1 to ${MAX_LIMIT}.`);
    this.#index ??= import('./tool-index.js').then((module) => new module.ToolIndex<CatalogTool>());
    const index = await this.#index;
    const isSearched = servers === undefined ? offers : among(servers, offers);
    return index.search(this.#tools(), query, { limit, accepts: isSearched });
  }
}

function among(
  servers: readonly string[],
  offers: (tool: CatalogTool) => boolean,
): (tool: CatalogTool) => boolean {
  const names = new Set(servers);
  return (tool) => names.has(tool.server) && offers(tool);
}
