/**
 * Tools for OpenAI's Chat Completions and Responses API and for compatible APIs: definitions for a request, and answers
 * to the tool calls of a response.
 *
 * Get the definitions anew for each request, so that a running agent notices added and removed tools. The types match the
 * types of the `openai` package, which need not be installed.
 *
 * Longer than 300 lines because it documents the types of two APIs, Chat Completions and Responses.
 */
import { checkLimit } from '../results/split-content.js';
import type { CatalogTool } from '../catalog/registry.js';
import { excessOf } from '../json/parse-json.js';
import { messageOf } from '../text/error-message.js';
import { allAnswers, type ToolSource, wellFormed } from './tool-source.js';
import { checkOffer, type Offer, type OfferMode } from '../search/offer.js';
import { freeName } from '../search/search-tools.js';
import { checkProviderOffer, isSearchedByTroupe, type ProviderOfferOptions } from './provider-offer.js';
import { chooseFrom, groupOf, offeredTools } from './search-calls.js';
import { schemaForModels, type ObjectSchema } from './schema-for-models.js';
import { isImageOrPdf } from './shown-media.js';
import {
  answerCall,
  errorAnswer,
  RUN_OPTIONS,
  type RunOptions,
  type ToolAnswer,
  type ToolCall,
} from './tool-answer.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

export type { JsonObject } from '../json/json-object.js';
export type { MediaBlock } from '../results/split-content.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { ObjectSchema } from './schema-for-models.js';
export type { AnswerOptions, Confirm, RunOptions } from './tool-answer.js';
export type { CallLimits, ShownResult, ToolSource } from './tool-source.js';
export type { Offer, OfferMode, OfferOptions } from '../search/offer.js';
export type { FoundTool, ToolSearchOptions } from '../search/tool-search.js';
export type { ToolField } from '../search/tool-index.js';
export type { ProviderOfferOptions } from './provider-offer.js';

/** What the API does not allow in names. */
const NOT_IN_NAMES = /[^a-zA-Z0-9_-]/gu;
const MAX_NAME = 60;

/** Options of `toChatTools`. */
export interface ChatToolsOptions {
  /**
   * Which tools the request offers at once, so that hundreds of them do not fill the context: for the others, the model is
   * offered `search_tools`, `describe_tool` and `call_tool`. Default `all`.
   */
  readonly offer?: Offer;
}

/** Options of `toResponsesTools`. */
export interface ResponsesToolsOptions {
  /** Which tools the request offers at once, so that hundreds of them do not fill the context. Default `all`. */
  readonly offer?: OfferMode | ProviderOfferOptions;
}

const TOOLS_OPTIONS: OptionNames<ChatToolsOptions> = { offer: true };

/** A tool of a Chat Completions request. */
export interface ChatTool {
  /** Always `function`, as the API requires. */
  type: 'function';
  /** The definition of the tool. */
  function: {
    /** Name for the model, unique over all servers. */
    name: string;
    /** The server's description. Absent if it gives none. */
    description?: string;
    /** JSON Schema of the arguments. */
    parameters: ObjectSchema;
    /** Always false: few schemas of MCP servers fit strict mode. */
    strict: false;
  };
}

/** A tool call of a chat message. Troupe answers only calls of the type `function`. */
export interface ChatToolCall {
  /** Id from the API; `tool_call_id` of the answer repeats it. */
  readonly id: string;
  /** Kind of the call. Calls of any other type than `function` are skipped. */
  readonly type: string;
  /** What to call. Absent in calls of another type. */
  readonly function?: {
    /** Name of the tool, as in its definition. */
    readonly name: string;
    /** Arguments as JSON text, written by the model. */
    readonly arguments: string;
  };
}

/** The answer to one tool call, for the next Chat Completions request. */
export interface ChatToolMessage {
  /** Always `tool`, as the API requires. */
  role: 'tool';
  /** `id` of the call that this message answers. */
  tool_call_id: string;
  /** The result or the error, as text within its boundary. */
  content: string;
}

/** A tool of a Responses request. */
export interface ResponsesTool {
  /** Always `function`, as the API requires. */
  type: 'function';
  /** Name for the model, unique over all servers. */
  name: string;
  /** The server's description. Absent if it gives none. */
  description?: string;
  /** JSON Schema of the arguments. */
  parameters: ObjectSchema;
  /** Always false: few schemas of MCP servers fit strict mode. */
  strict: false;
  /** True if the model sees the tool only after it has searched for it. Absent otherwise. */
  defer_loading?: true;
}

/** A group of deferred tools: before a search, the model sees only its name and description. */
export interface ResponsesNamespace {
  /** Always `namespace`, as the API requires. */
  type: 'namespace';
  /** Name of the group. Default: the name of the server; its entry may set another (`tools.group`). */
  name: string;
  /** What is in it. */
  description: string;
  /** The deferred tools. */
  tools: ResponsesTool[];
}

/** The API's own search for deferred tools. */
export interface ResponsesToolSearch {
  /** Always `tool_search`, as the API requires. */
  type: 'tool_search';
}

/** An output item of a response. Troupe answers only items of the type `function_call`. */
export interface ResponsesItem {
  /** Kind of the item. Items of any other type than `function_call` are skipped. */
  readonly type: string;
  /** Id of the call from the API; the answer repeats it. */
  readonly call_id?: string | null;
  /** Name of the tool, as in its definition. */
  readonly name?: string | null;
  /** Arguments as JSON text, written by the model. */
  readonly arguments?: unknown;
}

/** The answer to one function call, for the input of the next Responses request. */
export interface FunctionCallOutput {
  /** Always `function_call_output`, as the API requires. */
  type: 'function_call_output';
  /** `call_id` of the call that this item answers. */
  call_id: string;
  /** The result or the error: text, or parts if the result also holds images or files. */
  output: string | FunctionCallOutputPart[];
}

/** A part of an answer: text, an image or a file. */
export type FunctionCallOutputPart =
  /** Text of the answer. */
  | {
      type: 'input_text';
      /** The text within its boundary. */
      text: string;
    }
  /** An image. */
  | {
      type: 'input_image';
      /** The image as a `data:` URL. */
      image_url: string;
      /** Always `auto`: the API chooses the resolution. */
      detail: 'auto';
    }
  /** A file. */
  | {
      type: 'input_file';
      /** Always `result.pdf`. */
      filename: string;
      /** The file as a `data:` URL. */
      file_data: string;
    };

/**
 * The tools that a troupe or a view has now, for `tools` of a Chat Completions request.
 *
 * @param source A troupe or a view.
 * @param options Which tools the request offers at once. Default: all.
 *
 * @throws `TypeError` for an unknown or wrong option.
 *
 * @example
 * ```ts
 * import { toChatTools } from 'mcp-troupe/openai';
 *
 * const tools = toChatTools(troupe);
 * ```
 */
export function toChatTools(source: ToolSource, options: ChatToolsOptions = {}): ChatTool[] {
  requireKnown('toChatTools', options, TOOLS_OPTIONS);
  checkOffer('toChatTools', options.offer);
  return offeredTools(source, options.offer).map((tool) => ({
    type: 'function',
    function: definitionOf(tool),
  }));
}

/**
 * The tools that a troupe or a view has now, for `tools` of a Responses request.
 *
 * @param source A troupe or a view.
 * @param options Which tools the request offers at once. Default: all.
 *
 * @throws `TypeError` for an unknown or wrong option.
 *
 * @example
 * ```ts
 * import { toResponsesTools } from 'mcp-troupe/openai';
 *
 * const tools = toResponsesTools(troupe);
 * ```
 */
export function toResponsesTools(
  source: ToolSource,
  options: ResponsesToolsOptions = {},
): (ResponsesTool | ResponsesNamespace | ResponsesToolSearch)[] {
  requireKnown('toResponsesTools', options, TOOLS_OPTIONS);
  const { offer } = options;
  checkProviderOffer('toResponsesTools', offer);
  if (isSearchedByTroupe(offer)) return offeredTools(source, offer).map(toResponsesTool);
  const { shown, hidden } = chooseFrom(source, offer);
  const tools = shown.map(toResponsesTool);
  return hidden.length === 0 ? tools : [{ type: 'tool_search' }, ...tools, ...toNamespaces(hidden)];
}

function toResponsesTool(tool: CatalogTool): ResponsesTool {
  return { type: 'function', ...definitionOf(tool) };
}

function toNamespaces(tools: readonly CatalogTool[]): ResponsesNamespace[] {
  const groups = [...new Set(tools.map(groupOf))];
  const names = new Map<string, string>();
  for (const group of groups)
    names.set(
      group,
      freeName(group.replaceAll(NOT_IN_NAMES, '_').slice(0, MAX_NAME), (name) =>
        [...names.values()].includes(name),
      ),
    );
  return groups.map((group) => ({
    type: 'namespace',
    name: names.get(group) ?? group,
    description: `The tools of ${group}.`,
    tools: tools
      .filter((tool) => groupOf(tool) === group)
      .map((tool) => ({ ...toResponsesTool(tool), defer_loading: true })),
  }));
}

/**
 * Makes the calls of a chat message (`message.tool_calls`) concurrently and returns the messages that answer them, in
 * the same order. It answers every call of the type `function`; remove calls of the host's own tools first. An answer
 * is text only: it names data, but does not contain it.
 *
 * @param source A troupe or a view.
 * @param calls `tool_calls` of the message; null and undefined count as none.
 * @param options Limits of the calls and of their answers, and a signal that aborts all calls. Default: no signal and
 *   the usual limits.
 *
 * @throws `TypeError` for an unknown option, or if `maxCharacters` is not a number from 1,000 to 1,000,000.
 * @throws The reason of the signal, if it aborts.
 *
 * @example
 * ```ts
 * import { runChatToolCalls, type ChatToolCall } from 'mcp-troupe/openai';
 *
 * declare const message: { tool_calls?: ChatToolCall[] };
 * const answers = await runChatToolCalls(troupe, message.tool_calls);
 * ```
 */
export async function runChatToolCalls(
  source: ToolSource,
  calls: readonly ChatToolCall[] | null | undefined,
  options: RunOptions = {},
): Promise<ChatToolMessage[]> {
  requireKnown('runChatToolCalls', options, RUN_OPTIONS);
  checkLimit(options.maxCharacters);
  return allAnswers(
    (calls ?? []).flatMap(({ id, function: called }) =>
      called === undefined ? [] : [answerChat(source, id, called, options)],
    ),
  );
}

/**
 * Makes the calls of a response (`response.output`) concurrently and returns the items that answer them, in the same
 * order. It answers every item of the type `function_call` and skips all others; remove calls of the host's own tools
 * first.
 *
 * @param source A troupe or a view.
 * @param output `output` of the response, with items of any type.
 * @param options Limits of the calls and of their answers, and a signal that aborts all calls. Default: no signal and
 *   the usual limits.
 *
 * @throws `TypeError` for an unknown option, or if `maxCharacters` is not a number from 1,000 to 1,000,000.
 * @throws The reason of the signal, if it aborts.
 *
 * @example
 * ```ts
 * import { runResponsesToolCalls, type ResponsesItem } from 'mcp-troupe/openai';
 *
 * declare const response: { output: ResponsesItem[] };
 * const answers = await runResponsesToolCalls(troupe, response.output);
 * ```
 */
export async function runResponsesToolCalls(
  source: ToolSource,
  output: readonly ResponsesItem[],
  options: RunOptions = {},
): Promise<FunctionCallOutput[]> {
  requireKnown('runResponsesToolCalls', options, RUN_OPTIONS);
  checkLimit(options.maxCharacters);
  return allAnswers(
    output.filter(({ type }) => type === 'function_call').map((item) => answerItem(source, item, options)),
  );
}

/** Not strict: the schema of a server seldom fits the subset that strict mode accepts. */
function definitionOf(tool: CatalogTool): ChatTool['function'] {
  const { name, title, description = title } = tool;
  return {
    name,
    ...(description !== undefined && { description: wellFormed(description) }),
    parameters: schemaForModels(tool),
    strict: false,
  };
}

async function answerChat(
  source: ToolSource,
  id: string,
  called: { readonly name: string; readonly arguments: unknown },
  options: RunOptions,
): Promise<ChatToolMessage> {
  const { text } = await answer(source, called, () => false, options);
  return { role: 'tool', tool_call_id: id, content: text };
}

async function answerItem(
  source: ToolSource,
  { call_id, name, arguments: written }: ResponsesItem,
  options: RunOptions,
): Promise<FunctionCallOutput> {
  const given = await answer(source, { name: String(name), arguments: written }, isImageOrPdf, options);
  return { type: 'function_call_output', call_id: String(call_id), output: toOutput(given) };
}

async function answer(
  source: ToolSource,
  called: { readonly name: string; readonly arguments: unknown },
  shows: ToolCall['shows'],
  options: RunOptions,
): Promise<ToolAnswer> {
  const { args, problem } = read(called.arguments);
  if (problem !== undefined) return errorAnswer(problem);
  const call = { name: called.name, args, signal: options.signal, shows };
  return (await answerCall(source, call, options)).answer;
}

/** For a tool without arguments, models write an empty text. */
function read(written: unknown): { readonly args?: unknown; readonly problem?: string } {
  if (typeof written !== 'string') return { args: written };
  if (written.trim() === '') return { args: {} };
  const excess = excessOf(written);
  if (excess !== undefined) return { problem: `The text of the arguments ${excess}, and nothing was sent.` };
  try {
    return { args: JSON.parse(written) };
  } catch (error) {
    const why = messageOf(error);
    return {
      problem: `The arguments are not JSON (${why}), and nothing was sent. Call the tool again with one JSON object.`,
    };
  }
}

function toOutput({ text, blocks }: ToolAnswer): FunctionCallOutput['output'] {
  if (blocks.length === 0) return text;
  const media = blocks.map(({ type, data, mimeType }): FunctionCallOutputPart => {
    const url = `data:${mimeType};base64,${data}`;
    return type === 'image'
      ? { type: 'input_image', image_url: url, detail: 'auto' }
      : { type: 'input_file', filename: 'result.pdf', file_data: url };
  });
  return [{ type: 'input_text', text }, ...media];
}
