/** What an adapter needs of a troupe. A `Troupe` has it, and so has a `View`. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { MediaBlock } from '../calls/result/take-apart.js';
import type { CatalogTool } from '../catalog/registry.js';

export interface ToolSource {
  /** The same list as long as nothing changed. */
  readonly tools: readonly CatalogTool[];
  tool(name: string): CatalogTool | undefined;
  callTool(name: string, args: object, options: CallLimits): Promise<CallToolResult>;
  renderResult(
    result: CallToolResult,
    options: { readonly server: string; readonly tool: string; readonly limit?: number },
  ): Promise<ShownResult>;
}

export interface CallLimits {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly totalTimeoutMs?: number;
  /**
   * The tool that the host was asked about: another one of that name is not to be called.
   *
   * @internal
   */
  readonly lookedAt?: CatalogTool;
}

export interface ShownResult {
  /** Within the boundary. */
  readonly text: string;
  readonly blocks: readonly MediaBlock[];
  readonly isError: boolean;
}
