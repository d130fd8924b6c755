import type { SearchedTool } from '../../src/search/tool-index.js';

export interface EvaluatedTool extends SearchedTool {
  readonly server: string;
  readonly tool: string;
}
export interface EvaluatedQuery {
  readonly query: string;
  readonly right: readonly string[];
}
export function readCatalogue(): Promise<readonly EvaluatedTool[]>;
export function readQueries(): Promise<readonly EvaluatedQuery[]>;
export function ranksOf(
  queries: readonly EvaluatedQuery[],
  search: (query: string) => Promise<readonly EvaluatedTool[]>,
): Promise<readonly number[]>;
export function recallAt(limit: number, ranks: readonly number[]): number;
