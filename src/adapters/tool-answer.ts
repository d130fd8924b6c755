/**
 * From a tool call of a model to what the model is answered: the one way that all adapters go.
 *
 * T1. What a server said stands within the boundary, its error messages included; what stands outside is ours.
 * T2. An answer that is an error begins with `MCP error:` and says what the model can do about it.
 * T3. What is called is what the host was asked about: a tool that has become another one meanwhile is not, nor one that
 *     becomes it while the call waits for its server.
 * T4. An abort is thrown as the reason of the signal, and a mistake of the host as it is; neither becomes an answer.
 * T5. A mistake of the host never makes a call that was made look as if it had failed: the model would repeat it. So every
 *     entry point checks the limit before anything is sent, and data over which `shows` throws is not shown.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { abortable } from '../abortable.js';
import { unsendable } from '../calls/call-problem.js';
import type { MediaBlock } from '../calls/result/take-apart.js';
import { isJsonObject, type JsonObject } from '../catalog/json-object.js';
import type { CatalogTool } from '../catalog/registry.js';
import { TroupeError } from '../errors.js';
import {
  adviceFor,
  ARGUMENTS_ADVICE,
  FAILED_ADVICE,
  REFUSED_ADVICE,
  REPLACED_ADVICE,
} from './error-advice.js';
import { sortMedia } from './shown-media.js';
import type { CallLimits, ToolSource } from './tool-source.js';

export interface AnswerOptions {
  /** Milliseconds without an answer and without progress, as in `callTool`. Default: the server's `callTimeout`, else 60,000. */
  readonly timeoutMs?: number;
  /** Milliseconds for a whole call, waits included. Default: no limit. */
  readonly totalTimeoutMs?: number;
  /** Most characters of an answer within its boundary: 1,000 to 1,000,000. Default 50,000. */
  readonly limit?: number;
  /**
   * Asked before every call of a tool whose `requiresApproval` is true; anything but true refuses the call, and the model
   * is told so. What it throws is thrown. Default: nobody is asked.
   */
  readonly approve?: (
    tool: CatalogTool,
    args: JsonObject,
    signal: AbortSignal | undefined,
  ) => boolean | PromiseLike<boolean>;
}

/** What a model is answered. */
export interface ToolAnswer {
  /** Begins with `MCP error:` where it is an error. What a server said is within the boundary. */
  readonly text: string;
  /** Data that is handed to the model; none where it is an error. */
  readonly blocks: readonly MediaBlock[];
  /** The tool says that it failed, or the call brought no result. */
  readonly isError: boolean;
}

export interface ToolCall {
  /** The tool's name for the model. */
  readonly name: string;
  readonly args: unknown;
  readonly signal: AbortSignal | undefined;
  /** Whether the model can be handed such data; the rest is named in the text. */
  readonly shows: (block: MediaBlock) => boolean;
  /** The tool that the host was asked about in an earlier step. */
  readonly lookedAt?: CatalogTool | undefined;
}

/** The answer, and the untouched result where there is one. Throws the reason of the signal once that is aborted. */
export async function answerCall(
  source: ToolSource,
  call: ToolCall,
  options: AnswerOptions,
): Promise<{ readonly answer: ToolAnswer; readonly result?: CallToolResult }> {
  const { name, args, signal } = call;
  signal?.throwIfAborted();
  if (!isJsonObject(args))
    return { answer: errorAnswer(`${ARGUMENTS_ADVICE} They must be one JSON object.`) };
  const tool = source.tool(name);
  if (tool?.requiresApproval === true && !(await isApproved(tool, args, signal, options))) {
    return { answer: errorAnswer(REFUSED_ADVICE) };
  }
  try {
    const lookedAt = call.lookedAt ?? (options.approve && tool);
    const result = await source.callTool(name, args, limitsOf(options, signal, lookedAt));
    return { answer: await toAnswer(source, result, tool, call, options), result };
  } catch (error) {
    return { answer: await answerTo(error, source, tool, call, options) };
  }
}

/** An answer that no server has a word in. */
export function errorAnswer(text: string): ToolAnswer {
  return { text: `MCP error: ${text}`.toWellFormed(), blocks: [], isError: true };
}

async function isApproved(
  tool: CatalogTool,
  args: JsonObject,
  signal: AbortSignal | undefined,
  { approve }: AnswerOptions,
): Promise<boolean> {
  if (approve === undefined) return true;
  const asked: Promise<unknown> = (async () => approve(tool, args, signal))();
  return (await (signal === undefined ? asked : abortable(asked, signal))) === true;
}

function limitsOf(
  { timeoutMs, totalTimeoutMs }: AnswerOptions,
  signal: AbortSignal | undefined,
  lookedAt: CatalogTool | undefined,
): CallLimits {
  return {
    ...(signal !== undefined && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(totalTimeoutMs !== undefined && { totalTimeoutMs }),
    ...(lookedAt !== undefined && { lookedAt }),
  };
}

async function toAnswer(
  source: ToolSource,
  result: CallToolResult,
  tool: CatalogTool | undefined,
  call: ToolCall,
  { limit }: AnswerOptions,
): Promise<ToolAnswer> {
  const rendered = await source.renderResult(result, {
    server: tool?.server ?? '',
    tool: tool?.tool ?? call.name,
    ...(limit !== undefined && { limit }),
  });
  const { isError } = rendered;
  const { shown, note } = sortMedia(rendered.blocks, (block) => !isError && isShown(block, call));
  const text = note === undefined ? rendered.text : `${rendered.text}\n${note}`;
  return isError ? errorAnswer(`${FAILED_ADVICE}\n${text}`) : { text, blocks: shown, isError };
}

function isShown(block: MediaBlock, { shows }: ToolCall): boolean {
  try {
    return shows(block);
  } catch {
    return false;
  }
}

/** What is told of a call that brought no result. */
async function answerTo(
  error: unknown,
  source: ToolSource,
  tool: CatalogTool | undefined,
  call: ToolCall,
  { limit }: AnswerOptions,
): Promise<ToolAnswer> {
  call.signal?.throwIfAborted();
  if (!(error instanceof TroupeError)) {
    if (unsendable({ args: call.args }) === undefined) throw error;
    return errorAnswer(ARGUMENTS_ADVICE);
  }
  const said: CallToolResult = { content: [{ type: 'text', text: error.message }] };
  const { text } = await source.renderResult(said, {
    server: error.server ?? tool?.server ?? '',
    tool: tool?.tool ?? call.name,
    ...(limit !== undefined && { limit }),
  });
  const isReplaced = error.code === 'UNKNOWN_TOOL' && source.tool(call.name) !== undefined;
  return errorAnswer(`${isReplaced ? REPLACED_ADVICE : adviceFor(error)}\n${text}`);
}
