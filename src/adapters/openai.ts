/**
 * Tools for OpenAI's Chat Completions and Responses API, and for whoever speaks one of them: definitions for a request,
 * and answers to the tool calls of a response.
 *
 * Ask for the definitions anew for every request: then a running agent sees tools come and go. The types are those of the
 * `openai` package by their shape, so that it is not needed here.
 */
import { checkLimit } from '../calls/result/limit.js';
import type { CatalogTool } from '../catalog/registry.js';
import { messageOf } from '../thrown.js';
import { allAnswers } from './answer-all.js';
import { schemaForModels, type ObjectSchema } from './schema-for-models.js';
import { isImageOrPdf } from './shown-media.js';
import {
  answerCall,
  errorAnswer,
  type AnswerOptions,
  type ToolAnswer,
  type ToolCall,
} from './tool-answer.js';
import type { ToolSource } from './tool-source.js';
import { wellFormed } from './well-formed.js';

export type { JsonObject } from '../catalog/json-object.js';
export type { MediaBlock } from '../calls/result/take-apart.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { ObjectSchema } from './schema-for-models.js';
export type { AnswerOptions } from './tool-answer.js';
export type { CallLimits, ShownResult, ToolSource } from './tool-source.js';

export interface RunOptions extends AnswerOptions {
  /** Gives all calls up; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** A tool of a Chat Completions request. */
export interface ChatTool {
  type: 'function';
  function: { name: string; description?: string; parameters: ObjectSchema; strict: false };
}

/** A tool call of a chat message. Those of another type are not for Troupe. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

export interface ChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** A tool of a Responses request. */
export interface ResponsesTool {
  type: 'function';
  name: string;
  description?: string;
  parameters: ObjectSchema;
  strict: false;
}

/** An item of a response's output. Only those of the type `function_call` are for Troupe. */
export interface ResponsesItem {
  readonly type: string;
  readonly call_id?: string | null;
  readonly name?: string | null;
  readonly arguments?: unknown;
}

export interface FunctionCallOutput {
  type: 'function_call_output';
  call_id: string;
  output: string | FunctionCallOutputPart[];
}

export type FunctionCallOutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };

/** The tools that a troupe or a view has now, for `tools` of a Chat Completions request. */
export function toChatTools(source: ToolSource): ChatTool[] {
  return source.tools.map((tool) => ({ type: 'function', function: definitionOf(tool) }));
}

/** The tools that a troupe or a view has now, for `tools` of a Responses request. */
export function toResponsesTools(source: ToolSource): ResponsesTool[] {
  return source.tools.map((tool) => ({ type: 'function', ...definitionOf(tool) }));
}

/**
 * Makes the calls of a chat message (`message.tool_calls`) side by side and gives the messages that answer them, in the
 * same order. Every call of the type `function` is answered; take out the host's own before. Such a message holds text
 * only: data is named in it, and not handed on.
 */
export async function runChatToolCalls(
  source: ToolSource,
  calls: readonly ChatToolCall[] | null | undefined,
  options: RunOptions = {},
): Promise<ChatToolMessage[]> {
  checkLimit(options.limit);
  return allAnswers(
    (calls ?? []).flatMap(({ id, function: called }) =>
      called === undefined ? [] : [answerChat(source, id, called, options)],
    ),
  );
}

/**
 * Makes the calls of a response (`response.output`) side by side and gives the items that answer them, in the same order.
 * Every item of the type `function_call` is answered, all others are passed over; take out the host's own before.
 */
export async function runResponsesToolCalls(
  source: ToolSource,
  output: readonly ResponsesItem[],
  options: RunOptions = {},
): Promise<FunctionCallOutput[]> {
  checkLimit(options.limit);
  return allAnswers(
    output.filter(({ type }) => type === 'function_call').map((item) => answerItem(source, item, options)),
  );
}

/** Not strict: the schema of a server seldom fits the subset that strict mode takes. */
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

/** Models write nothing at all for a tool without arguments. */
function read(written: unknown): { readonly args?: unknown; readonly problem?: string } {
  if (typeof written !== 'string') return { args: written };
  try {
    return { args: written.trim() === '' ? {} : JSON.parse(written) };
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
