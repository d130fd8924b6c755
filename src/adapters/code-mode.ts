/**
 * Code mode: a model gets one tool, `run_code`, whose description is the typed API of all others, and writes code that calls
 * them. The host runs the code in its own sandbox; this file is the bridge from there to the tools.
 *
 * B1. A call of the code is a call of the tool itself: confirmation, review, filters, hooks, events and errors name it.
 * B2. The limits hold whatever the code does: exceeding one ends the run. Once it is over, the bridge calls nothing more.
 * B3. No code is run here.
 *
 * Longer than 300 lines because the public types and their documentation are a third of it.
 */
import { Semaphore } from '../async/semaphore.js';
import { abortable } from '../async/abort.js';
import { Deadline, TimedOut } from '../calls/deadline.js';
import { serverMeant, toolMeant, unknownMethod } from '../catalog/tool-methods.js';
import type { CatalogTool } from '../catalog/registry.js';
import { argumentsIn } from '../json/json-arguments.js';
import { writeJson } from '../json/write-json.js';
import type { CallToolResult } from '../mcp/server-offers.js';
import { systemClock } from '../ports.js';
import { asText } from '../text/as-text.js';
import { messageOf } from '../text/error-message.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';
import { sendCall, whyRefused, type Confirm } from './tool-answer.js';
import { declarationsOf, toolsApi } from './tools-api.js';
import type { CallLimits, ToolSource } from './tool-source.js';

export type { JsonObject } from '../json/json-object.js';
export type { MediaBlock } from '../results/split-content.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { FoundTool, ToolSearchOptions } from '../search/tool-search.js';
export type { ToolField } from '../search/tool-index.js';
export type { Confirm } from './tool-answer.js';
export type { CallLimits, ShownResult, ToolSource } from './tool-source.js';

/** What the code of one run can reach. Hand its functions to the sandbox under the names that `CODE_PRELUDE` uses. */
export interface CodeBridge {
  /**
   * Calls a tool. Resolves with its structured content, or else with its text; both fit JSON. Rejects if the tool fails, if
   * the call is refused, or if the run is over.
   *
   * @param server Name of the server, exact or in camel case.
   * @param tool The server's own name of the tool, exact or in camel case.
   * @param args The arguments. They are validated.
   */
  runTool(server: string, tool: string, args: unknown): Promise<unknown>;
  /**
   * Finds tools, and resolves with the declarations of the best matches as text.
   *
   * @param words Words that describe what the tools do.
   */
  searchTools(words: string): Promise<string>;
  /** Aborts when the run is over: it has ended, exceeds a limit, or its caller aborts. Stop the sandbox then. */
  readonly signal: AbortSignal;
}

/**
 * Runs code in a sandbox of the host.
 *
 * @param code The body of an async function, in JavaScript, as the model wrote it. Run `CODE_PRELUDE` before it.
 * @param bridge What the code can reach.
 * @returns What the code returns. It has to fit JSON.
 */
export type RunCode = (code: string, bridge: CodeBridge) => Promise<unknown>;

/** Limits of one run. Code that exceeds one is ended. */
export interface CodeLimits {
  /** Calls of tools, and searches. Default 50. */
  readonly calls?: number;
  /** Calls at the same time; further ones wait. Default 8. */
  readonly concurrentCalls?: number;
  /** Milliseconds for the whole run; they stand still while `confirm` is waited for. Default 60,000. */
  readonly totalMs?: number;
  /** Characters of JSON: of all results that the code gets together, and of what it returns. Default 1,000,000. */
  readonly resultCharacters?: number;
}

/** Options of `codeMode`. */
export interface CodeModeOptions {
  /** Runs the code. */
  readonly run: RunCode;
  /** Limits of each run. */
  readonly limits?: CodeLimits;
  /** Tokens that the API in the description may take, estimated as a quarter of its characters. Default 10,000. */
  readonly maxTokens?: number;
  /** Name of the tool for the model. Default `run_code`. */
  readonly name?: string;
  /**
   * Called before every call of a tool by the code, as in the other adapters. Default: calls of tools whose
   * `requiresConfirmation` is true are refused, all others are sent.
   */
  readonly confirm?: Confirm | 'never';
}

const OPTIONS: OptionNames<CodeModeOptions> = {
  run: true,
  limits: true,
  maxTokens: true,
  name: true,
  confirm: true,
};
const LIMITS: Required<CodeLimits> = {
  calls: 50,
  concurrentCalls: 8,
  totalMs: 60_000,
  resultCharacters: 1_000_000,
};
const LIMIT_NAMES: OptionNames<CodeLimits> = {
  calls: true,
  concurrentCalls: true,
  totalMs: true,
  resultCharacters: true,
};
const DEFAULT_MAX_TOKENS = 10_000;

/**
 * JavaScript to run in the sandbox before the code of the model: it makes `tools` of a global function `runTool(server, tool,
 * args)`.
 */
export const CODE_PRELUDE = `globalThis.tools = ((fields) =>
  fields((server) => fields((tool) => (args = {}) => globalThis.runTool(server, tool, args))))((make) =>
    new Proxy(Object.freeze(Object.create(null)), {
      get: (_, name) => (typeof name === 'string' && name !== 'then' && name !== 'toJSON' ? make(name) : undefined),
    }));
`;

/**
 * A source with one tool, `run_code`: give it to an adapter instead of the troupe. Its description has the types of all tools,
 * and follows their changes.
 *
 * @param source A troupe or a view.
 * @param options The host's sandbox, and the limits of a run.
 *
 * @throws `TypeError` for an unknown or wrong option.
 *
 * @example
 * ```ts
 * import { toTools } from 'mcp-troupe/anthropic';
 * import { codeMode, type RunCode } from 'mcp-troupe/code-mode';
 *
 * declare const run: RunCode;
 * const tools = toTools(codeMode(troupe, { run, limits: { calls: 20 } }));
 * ```
 */
export function codeMode(source: ToolSource, options: CodeModeOptions): ToolSource {
  requireKnown('codeMode', options, OPTIONS);
  requireKnown('codeMode', options.limits ?? {}, LIMIT_NAMES);
  const { run, maxTokens = DEFAULT_MAX_TOKENS } = options;
  if (typeof run !== 'function') throw new TypeError("codeMode: 'run' is not a function.");
  const limits = { ...LIMITS, ...options.limits };
  for (const [name, value] of Object.entries({ ...limits, maxTokens }))
    if (!Number.isInteger(value) || value < 1)
      throw new TypeError(`codeMode: '${name}' is not a whole number above 0.`);
  return new CodeSource(source, { ...options, limits, maxTokens });
}

interface Settings extends CodeModeOptions {
  readonly limits: Required<CodeLimits>;
  readonly maxTokens: number;
}

/** A source with one tool. */
class CodeSource implements ToolSource {
  readonly #source: ToolSource;
  readonly #settings: Settings;
  #from: readonly CatalogTool[] | undefined;
  #tools: readonly CatalogTool[] = [];

  constructor(source: ToolSource, settings: Settings) {
    this.#source = source;
    this.#settings = settings;
  }

  get tools(): readonly CatalogTool[] {
    const { tools } = this.#source;
    if (tools !== this.#from) this.#tools = Object.freeze([toolFor(tools, this.#settings)]);
    this.#from = tools;
    return this.#tools;
  }

  tool(name: string): CatalogTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }

  searchTools(): Promise<[]> {
    return Promise.resolve([]);
  }

  renderResult(...given: Parameters<ToolSource['renderResult']>): ReturnType<ToolSource['renderResult']> {
    return this.#source.renderResult(...given);
  }

  async callTool(
    name: string,
    args: object,
    { signal, totalTimeoutMs = 0 }: CallLimits,
  ): Promise<CallToolResult> {
    signal?.throwIfAborted();
    const code: unknown = argumentsIn(args)?.['code'];
    if (this.tool(name) === undefined) return failed(`There is no tool called '${name}'.`);
    if (typeof code !== 'string') return failed("'code' is not a string.");
    const { run, limits } = this.#settings;
    const totalMs = totalTimeoutMs > 0 ? Math.min(totalTimeoutMs, limits.totalMs) : limits.totalMs;
    const time = new Deadline(systemClock, { idleMs: 0, totalMs }, signal);
    const bridge = new Bridge(this.#source, this.#settings, time);
    try {
      const ran = (async () => run(code, bridge.functions))();
      return toResult(await abortable(ran, time.signal), limits);
    } catch (error) {
      signal?.throwIfAborted();
      if (bridge.hostError !== undefined) throw bridge.hostError.error;
      return failed(
        error instanceof TimedOut ? `The code took longer than ${totalMs} ms.` : messageOf(error),
      );
    } finally {
      time.end();
      time.abort(new Error('The run is over.'));
    }
  }
}

/** The calls of one run. */
class Bridge {
  readonly #source: ToolSource;
  readonly #settings: Settings;
  readonly #time: Deadline;
  readonly #turns: Semaphore;
  #calls = 0;
  #characters = 0;
  /** Calls that a person is being asked about. */
  #asked = 0;
  /** What `confirm` threw. */
  hostError: { readonly error: unknown } | undefined;

  constructor(source: ToolSource, settings: Settings, time: Deadline) {
    this.#source = source;
    this.#settings = settings;
    this.#time = time;
    this.#turns = new Semaphore(() => settings.limits.concurrentCalls);
  }

  /** Only these: the code may get hold of the object. */
  get functions(): CodeBridge {
    return {
      runTool: (server, tool, args) => this.#runTool(server, tool, args),
      searchTools: (words) => this.#searchTools(words),
      signal: this.#time.signal,
    };
  }

  async #runTool(server: string, method: string, args: unknown): Promise<unknown> {
    const { signal } = this.#time;
    this.#count();
    const written = argumentsIn(args);
    if (written === undefined) throw new Error('The arguments of a tool are one object.');
    const { tools } = this.#source;
    const place = serverMeant(asText(server), asText(method), [...new Set(tools.map((tool) => tool.server))]);
    const tool = toolMeant(place, asText(method), tools);
    if (tool === undefined) throw unknownMethod(place, asText(method), tools);
    const call = { name: tool.name, args: written, signal };
    const refusal = await this.#whyRefused(tool, call);
    if (refusal !== undefined) throw new Error(refusal);
    await this.#turns.take(signal);
    try {
      return this.#accounted(valueOf(await sendCall(this.#source, tool, call, this.#settings)));
    } finally {
      this.#turns.leave();
    }
  }

  /** The time stands still while a person is asked. */
  async #whyRefused(tool: CatalogTool, call: Parameters<typeof whyRefused>[1]): Promise<string | undefined> {
    this.#asked += 1;
    this.#time.pause();
    try {
      return await whyRefused(tool, call, this.#settings);
    } catch (error) {
      this.hostError ??= { error };
      this.#time.abort(error);
      throw error;
    } finally {
      this.#asked -= 1;
      if (this.#asked === 0) this.#time.resume();
    }
  }

  async #searchTools(words: string): Promise<string> {
    this.#count();
    const found = await this.#source.searchTools(asText(words), {});
    const text = declarationsOf(
      found.map(({ tool }) => tool),
      'whole',
    );
    return this.#accounted(text);
  }

  #count(): void {
    this.#time.signal.throwIfAborted();
    const { calls } = this.#settings.limits;
    this.#calls += 1;
    if (this.#calls > calls) this.#end(`The code made more than ${calls} calls.`);
  }

  #accounted<T>(value: T): T {
    const { resultCharacters } = this.#settings.limits;
    this.#characters += (writeJson(value) ?? '').length;
    if (this.#characters > resultCharacters)
      this.#end(
        `The results together have more than ${resultCharacters} characters: ask the tools for less.`,
      );
    return value;
  }

  /** Code that could catch the error could go on forever. */
  #end(message: string): never {
    const error = new Error(message);
    this.#time.abort(error);
    throw error;
  }
}

function toolFor(
  tools: readonly CatalogTool[],
  { name = 'run_code', limits, maxTokens }: Settings,
): CatalogTool {
  const { text, isWhole } = toolsApi(tools, maxTokens);
  const search =
    'declare function searchTools(words: string): Promise<string>; // declarations of the best matches\n';
  const description = [
    'Runs JavaScript that calls tools, and gives what it returns. One program can make many calls and return only what matters.',
    `The code is the body of an async function: use await and return. It has no imports, network or files. It may call ${limits.calls} tools, and takes ${limits.totalMs / 1_000} s at most. A tool that fails throws.`,
    ...(isWhole ? [] : ['The list is shortened: search for tools to get their types.']),
    `\n${isWhole ? '' : search}${text}`,
  ].join('\n');
  return {
    name,
    server: '',
    tool: 'run_code',
    source: '',
    title: 'Run code',
    description,
    inputSchema: {
      type: 'object',
      properties: { code: { type: 'string', description: 'Body of an async function, in JavaScript.' } },
      required: ['code'],
    },
    requiresConfirmation: false,
    stale: false,
  };
}

/** What the code gets. Throws the text of a tool that failed. */
function valueOf({ content, structuredContent, isError }: CallToolResult): unknown {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const text = blocks.map(textOf).join('\n');
  if (isError === true) throw new Error(text === '' ? 'The tool failed.' : text);
  return structuredContent ?? text;
}

function textOf(block: unknown): string {
  const { type, text, mimeType } = (block ?? {}) as { type?: unknown; text?: unknown; mimeType?: unknown };
  if (type === 'text' && typeof text === 'string') return text;
  return typeof mimeType === 'string' && type !== 'resource_link'
    ? `[${asText(type)}: ${mimeType}]`
    : writeJson(block);
}

function toResult(value: unknown, { resultCharacters }: Required<CodeLimits>): CallToolResult {
  const text = typeof value === 'string' ? value : (writeJson(value) ?? 'The code returned nothing.');
  if (text.length > resultCharacters)
    return failed(`The code returned more than ${resultCharacters} characters: return less.`);
  return { content: [{ type: 'text', text }] };
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
