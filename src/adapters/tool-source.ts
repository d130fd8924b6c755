/**
 * `src/adapters` holds one adapter for each framework or model API: it converts tools to the form that is expected
 * there, and makes the calls. Adapters use only the public API of a troupe. This file is the part of it that they need;
 * a `Troupe` and a `View` both provide it.
 */
import type { CallToolResult } from '../mcp/server-offers.js';
import type { MediaBlock } from '../results/split-content.js';
import type { CatalogTool } from '../catalog/registry.js';
import type { FoundTool, ToolSearchOptions } from '../search/tool-search.js';

/** Tools and the means to call them. `Troupe` and `View` both implement it. */
export interface ToolSource {
  /** All tools. The array stays the same object while nothing changes. */
  readonly tools: readonly CatalogTool[];
  /**
   * The tool with that name for the model; undefined if there is none.
   *
   * @param name The name for the model, as in `tools`.
   */
  tool(name: string): CatalogTool | undefined;
  /**
   * Calls a tool by its name for the model. Rejects with an error of Troupe if the call cannot be completed.
   *
   * @param name The name for the model, as in `tools`.
   * @param args The tool's arguments; they are checked against its input schema.
   * @param options Limits of this call, and its signal.
   */
  callTool(name: string, args: object, options: CallLimits): Promise<CallToolResult>;
  /**
   * Finds tools by what they do, best first.
   *
   * @param query Words that describe what the tool does.
   * @param options Maximum number of tools, and the servers to search.
   */
  searchTools(query: string, options: ToolSearchOptions): Promise<readonly FoundTool[]>;
  /**
   * Converts a result to the text and data that a model reads.
   *
   * @param result The untouched result of `callTool`.
   * @param options Where the result comes from, and its limit.
   */
  renderResult(
    result: CallToolResult,
    options: {
      /** Name of the server. */
      readonly server: string;
      /** The server's own name of the tool. */
      readonly tool: string;
      /** Maximum number of characters of the text, its notice included: 1,000 to 1,000,000. Default 50,000. */
      readonly maxCharacters?: number;
    },
  ): Promise<ShownResult>;
}

/** Limits of one tool call. */
export interface CallLimits {
  /** Aborts the call. Default: the call cannot be aborted. */
  readonly signal?: AbortSignal;
  /** Milliseconds without an answer or progress. Default: the server's `callTimeoutMs`, else 60,000. */
  readonly timeoutMs?: number;
  /** Milliseconds for the whole call, waits included. Default: six times `timeoutMs`. */
  readonly totalTimeoutMs?: number;
  /**
   * The tool that the host was asked about. If another tool has that name now, nothing is called.
   *
   * @internal
   */
  readonly expectedTool?: CatalogTool;
}

/** A tool result in the form that a model reads. */
export interface ShownResult {
  /** Text within its boundary. */
  readonly text: string;
  /** Images, audio and files, in the order of the result; empty if there are none. */
  readonly blocks: readonly MediaBlock[];
  /** True if the tool says that it failed; `text` says why. */
  readonly isError: boolean;
}

/**
 * Waits for concurrent answers and returns them in order. If one rejects, it rejects only after all others have
 * settled, so that no call goes on unobserved.
 */
export async function allAnswers<T>(answers: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(answers);
  return Promise.all(answers);
}
