/**
 * Makes the tool call of a model and turns its result or error into the answer. All adapters use it.
 *
 * T1. Text of a server stands within the boundary, its error messages included; text outside is Troupe's.
 * T2. An error answer begins with `MCP error:` and says what the model can do about it.
 * T3. Only the tool that the host was asked about is called. If its definition has changed since, or changes while the
 *     call waits for its server, it is not called.
 * T4. An abort is thrown as the reason of the signal, and an error of the host's code is rethrown; neither becomes an
 *     answer.
 * T5. A call through `call_tool` is a call of the tool that it names: the host is asked about that one.
 * T6. An error of the host's code never makes a call that was made look failed: the model would repeat it. So every
 *     entry point checks the limit before anything is sent, and data is not shown if `shows` throws.
 */
import type { CallToolResult } from '../mcp/server-offers.js';
import { abortable } from '../async/abort.js';
import { unsendable } from '../calls/call-problem.js';
import { argumentsIn } from '../json/json-arguments.js';
import type { MediaBlock } from '../results/split-content.js';
import type { JsonObject } from '../json/json-object.js';
import type { CatalogTool } from '../catalog/registry.js';
import {
  TroupeError,
  AuthRequiredError,
  ConfigError,
  NotReadyError,
  JsonRpcError,
  TrustRequiredError,
} from '../errors.js';
import { SearchArgumentsError, type WrittenCall } from '../search/search-tools.js';
import { innerCall, searchResult, type IsTaken } from './search-calls.js';
import { sortMedia } from './shown-media.js';
import type { CallLimits, ToolSource } from './tool-source.js';
import type { OptionNames } from '../text/option-names.js';

/**
 * Asks a person whether a call may be sent.
 *
 * @param tool The tool that the model calls.
 * @param args The arguments that the model wrote, before they are validated.
 * @param signal Aborts when the answer is no longer needed; undefined if the caller gave none.
 */
export type Confirm = (
  tool: CatalogTool,
  args: JsonObject,
  signal: AbortSignal | undefined,
) => boolean | PromiseLike<boolean>;

/** Limits of tool calls and of their answers, and the confirmation of calls by a person. */
export interface AnswerOptions {
  /** Milliseconds without an answer or progress, as in `callTool`. Default: the server's `callTimeoutMs`, else 60,000. */
  readonly timeoutMs?: number;
  /** Milliseconds for a whole call, waits included. Default: six times `timeoutMs`. */
  readonly totalTimeoutMs?: number;
  /** Maximum number of characters of an answer within its boundary: 1,000 to 1,000,000. Default 50,000. */
  readonly maxCharacters?: number;
  /**
   * Called before every call of a tool, unless its `requiresConfirmation` is false. Any result but true refuses the
   * call, and the answer to the model says so. Its errors are rethrown. `'never'` sends every call without asking.
   * Default: calls of tools whose `requiresConfirmation` is true are refused, all others are sent.
   */
  readonly confirm?: Confirm | 'never';
}

export const ANSWER_OPTIONS: OptionNames<AnswerOptions> = {
  timeoutMs: true,
  totalTimeoutMs: true,
  maxCharacters: true,
  confirm: true,
};

/** Options of the functions that run all tool calls of an answer of a model. */
export interface RunOptions extends AnswerOptions {
  /** Aborts all calls; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
}

export const RUN_OPTIONS: OptionNames<RunOptions> = { ...ANSWER_OPTIONS, signal: true };

/** The answer to a model's tool call. */
export interface ToolAnswer {
  /** Begins with `MCP error:` if the call failed. Text of the server is within the boundary. */
  readonly text: string;
  /** Data for the model; empty if the call failed. */
  readonly blocks: readonly MediaBlock[];
  /** True if the tool says that it failed, or if the call has no result. */
  readonly isError: boolean;
}

export interface ToolCall {
  /** The tool's name for the model. */
  readonly name: string;
  readonly args: unknown;
  readonly signal: AbortSignal | undefined;
  /** Whether the model can get such data; the text names the rest. */
  readonly shows: (block: MediaBlock) => boolean;
  /** The tool that the host was asked about in an earlier step. */
  readonly expectedTool?: CatalogTool | undefined;
  /** Whether the host has a tool of that name. Default: it has none. */
  readonly isTaken?: IsTaken;
}

/** The answer, and the unchanged result if there is one. Throws the reason of the signal if it is aborted. */
export async function answerCall(
  source: ToolSource,
  call: ToolCall,
  options: AnswerOptions,
): Promise<{ readonly answer: ToolAnswer; readonly result?: CallToolResult }> {
  call.signal?.throwIfAborted();
  const written = argumentsIn(call.args);
  if (written === undefined)
    return { answer: errorAnswer(`${ARGUMENTS_ADVICE} They must be one JSON object.`) };
  try {
    const real = innerCall(source, { name: call.name, args: written }, call.isTaken);
    const found = await searchResult(source, real, call.isTaken);
    if (found === undefined) return await answerRealCall(source, { ...call, ...real }, options);
    return { answer: await toAnswer(source, found, undefined, call, options), result: found };
  } catch (error) {
    if (!(error instanceof SearchArgumentsError)) throw error;
    return { answer: errorAnswer(`${ARGUMENTS_ADVICE}\n${error.message}`) };
  }
}

async function answerRealCall(
  source: ToolSource,
  call: ToolCall & WrittenCall,
  options: AnswerOptions,
): Promise<{ readonly answer: ToolAnswer; readonly result?: CallToolResult }> {
  const tool = source.tool(call.name);
  const refusal = await whyRefused(tool, call, options);
  if (refusal !== undefined) return { answer: errorAnswer(refusal) };
  try {
    const result = await sendCall(source, tool, call, options);
    return { answer: await toAnswer(source, result, tool, call, options), result };
  } catch (error) {
    return { answer: await answerTo(error, source, tool, call, options) };
  }
}

type RealCall = WrittenCall & Pick<ToolCall, 'signal' | 'expectedTool'>;

/** Why the host does not allow a call, for a model; undefined if it does. Throws what `confirm` throws. */
export async function whyRefused(
  tool: CatalogTool | undefined,
  { args, signal }: RealCall,
  { confirm }: AnswerOptions,
): Promise<string | undefined> {
  if (tool?.requiresConfirmation === true && confirm === undefined) return UNCONFIRMED_ADVICE;
  const isAsked = tool !== undefined && tool.requiresConfirmation !== false && typeof confirm === 'function';
  return isAsked && !(await isConfirmed(confirm, tool, args, signal)) ? REFUSED_ADVICE : undefined;
}

/** Calls the tool that the host was asked about. */
export function sendCall(
  source: ToolSource,
  tool: CatalogTool | undefined,
  { name, args, signal, expectedTool }: RealCall,
  options: AnswerOptions,
): Promise<CallToolResult> {
  const expected = expectedTool ?? (typeof options.confirm === 'function' ? tool : undefined);
  return source.callTool(name, args, limitsOf(options, signal, expected));
}

/** An error answer without text of a server. */
export function errorAnswer(text: string): ToolAnswer {
  return { text: `MCP error: ${text}`.toWellFormed(), blocks: [], isError: true };
}

async function isConfirmed(
  confirm: Confirm,
  tool: CatalogTool,
  args: JsonObject,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const asked: Promise<unknown> = (async () => confirm(tool, args, signal))();
  return (await (signal === undefined ? asked : abortable(asked, signal))) === true;
}

function limitsOf(
  { timeoutMs, totalTimeoutMs }: AnswerOptions,
  signal: AbortSignal | undefined,
  expectedTool: CatalogTool | undefined,
): CallLimits {
  return {
    ...(signal !== undefined && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(totalTimeoutMs !== undefined && { totalTimeoutMs }),
    ...(expectedTool !== undefined && { expectedTool }),
  };
}

async function toAnswer(
  source: ToolSource,
  result: CallToolResult,
  tool: CatalogTool | undefined,
  call: ToolCall,
  { maxCharacters }: AnswerOptions,
): Promise<ToolAnswer> {
  const rendered = await source.renderResult(result, {
    server: tool?.server ?? '',
    tool: tool?.tool ?? call.name,
    ...(maxCharacters !== undefined && { maxCharacters }),
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

/** The answer to a call without a result. */
async function answerTo(
  error: unknown,
  source: ToolSource,
  tool: CatalogTool | undefined,
  call: ToolCall,
  { maxCharacters }: AnswerOptions,
): Promise<ToolAnswer> {
  call.signal?.throwIfAborted();
  if (!(error instanceof TroupeError)) {
    if (unsendable({ args: call.args }) === undefined) throw error;
    return errorAnswer(ARGUMENTS_ADVICE);
  }
  const message: CallToolResult = { content: [{ type: 'text', text: error.message }] };
  const { text } = await source.renderResult(message, {
    server: error.server ?? tool?.server ?? '',
    tool: tool?.tool ?? call.name,
    ...(maxCharacters !== undefined && { maxCharacters }),
  });
  const isReplaced = error.code === 'UNKNOWN_TOOL' && source.tool(call.name) !== undefined;
  return errorAnswer(`${isReplaced ? REPLACED_ADVICE : adviceFor(error)}\n${text}`);
}

/** What a model can do about a call without a result, by the kind of error. No text of a server is in it. */
const ARGUMENTS_ADVICE =
  'The arguments do not fit the tool, and nothing was sent. Correct them and call it again.';
const FAILED_ADVICE =
  'The tool failed; its text follows. Do not repeat the same call unchanged: correct the arguments or try another way.';
const UNCONFIRMED_ADVICE =
  "This tool requires confirmation by a person, but this program has no way to ask for it, so the call was not sent. Tell the user. The developer of the program can set the option 'confirm' of the adapter: a function that asks, or 'never'.";
const REFUSED_ADVICE =
  'This call was not allowed, and nothing was sent. Do not try it again, and do not try the same in another way; continue without it or ask the user.';
const REPLACED_ADVICE =
  'The tool changed while the user was asked about it, and nothing was sent. Read its new description, and call it again if it is still what you want.';

const INVALID_PARAMS = -32602;

export function adviceFor(error: TroupeError): string {
  switch (error.code) {
    case 'UNKNOWN_TOOL':
      return 'There is no such tool, or it is gone. Use one of the tools that you are offered now.';
    case 'INVALID_ARGUMENTS':
      return ARGUMENTS_ADVICE;
    case 'NOT_READY':
      return notReadyAdvice(error);
    case 'TOOL_HELD':
      return personAdvice('a person has to accept the tool again, because it has changed');
    case 'CALL_TIMEOUT':
      return 'The tool did not answer in time and the call was cancelled. It may have done part of the work: check before you repeat the call, or ask for less at once.';
    case 'OUTCOME_UNKNOWN':
      return 'There was no readable answer, so the call may or may not have taken effect. Check the current state before you repeat it.';
    case 'JSON_RPC_ERROR':
      return error instanceof JsonRpcError && error.rpcCode === INVALID_PARAMS
        ? 'The server did not accept the arguments. Correct them and call the tool again.'
        : 'The server answered with an error. Repeating the same call is unlikely to help: change it or continue without it.';
    default:
      return 'The call could not be made. Go on without it, or report this message to the user.';
  }
}

/** Nothing was sent, so the call can be repeated; but if a person has to act, waiting does not help. */
function notReadyAdvice({ cause }: TroupeError): string {
  if (cause instanceof AuthRequiredError) return personAdvice('a person has to sign in first');
  if (cause instanceof TrustRequiredError) return personAdvice('a person has to trust the server first');
  if (cause instanceof ConfigError)
    return personAdvice('the configuration of the server has to be corrected first');
  const why = cause instanceof NotReadyError || cause === undefined ? 'is not ready' : 'cannot be reached';
  return `The server ${why}, and nothing was sent. It is safe to repeat the call: try it again later, or continue without it.`;
}

function personAdvice(what: string): string {
  return `Nothing was sent: ${what}. Tell the user, and do not try again until that is done.`;
}
