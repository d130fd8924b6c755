/**
 * `src/adapters` holds one adapter for each framework or model API: it converts tools to the form that is expected
 * there, and makes the calls. Adapters use only the public API of a troupe. This file is the part of it that they need;
 * a `Troupe` and a `View` both provide it.
 */
import type { CallToolResult } from '../mcp/server-offers.js';
import type { MediaBlock } from '../results/split-content.js';
import type { CatalogTool } from '../catalog/registry.js';
import { isJsonObject } from '../json/json-object.js';

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

// The tools of a source in the form that a framework expects: each is made once and looked up whenever the framework
// asks, so that a running agent sees the current tools. Keeps the last thousand tools that are gone, so that Troupe can
// answer a late call and say why the tool is gone.

const MAX_GONE = 1_000;

export class MadeTools<T> {
  readonly #source: ToolSource;
  readonly #make: (tool: CatalogTool) => T;
  readonly #made = new WeakMap<CatalogTool, T>();
  /** Tools that are gone, by name; the oldest first. */
  readonly #gone = new Map<string, T>();
  #from: readonly CatalogTool[] | undefined;
  #present: ReadonlyMap<string, T> = new Map();

  constructor(source: ToolSource, make: (tool: CatalogTool) => T) {
    this.#source = source;
    this.#make = make;
  }

  /** The tools that are offered now, by name. */
  get present(): ReadonlyMap<string, T> {
    const { tools } = this.#source;
    if (tools === this.#from) return this.#present;
    this.#from = tools;
    const before = this.#present;
    this.#present = new Map(tools.map((tool) => [tool.name, this.#madeOf(tool)]));
    for (const [name, made] of before) if (!this.#present.has(name)) this.#keep(name, made);
    return this.#present;
  }

  /** Also finds a tool that was offered earlier. */
  get(name: string): T | undefined {
    return this.present.get(name) ?? this.#gone.get(name);
  }

  #keep(name: string, made: T): void {
    this.#gone.delete(name);
    this.#gone.set(name, made);
    for (const oldest of this.#gone.keys()) {
      if (this.#gone.size <= MAX_GONE) break;
      this.#gone.delete(oldest);
    }
  }

  #madeOf(tool: CatalogTool): T {
    const before = this.#made.get(tool);
    if (before !== undefined) return before;
    const made = this.#make(tool);
    this.#made.set(tool, made);
    return made;
  }
}

// Replaces lone surrogates. A server that cuts a text may leave one, and a provider refuses a whole request for it, at
// every later turn too.

/** The same JSON with U+FFFD for each lone surrogate. The JSON must be of bounded depth. */
export function wellFormed<T>(value: T): T {
  return toWellFormed(value) as T;
}

function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [name.toWellFormed(), toWellFormed(each)]);
  return Object.fromEntries(entries) as object;
}
