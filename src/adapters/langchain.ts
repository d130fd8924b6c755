/**
 * Tools for LangChain: structured tools, and a middleware that keeps the tools of a running `createAgent` agent live.
 *
 * Needs `@langchain/core`; `langchain` only for its types.
 */
import type { RunnableConfig } from '@langchain/core/runnables';
import { ToolMessage, type MessageContent } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import type { AgentMiddleware } from 'langchain';
import type { CallToolResult } from '../mcp/server-offers.js';
import { checkLimit, type MediaBlock } from '../results/split-content.js';
import type { CatalogTool } from '../catalog/registry.js';
import { MadeTools, type ToolSource, wellFormed } from './tool-source.js';
import { schemaForModels } from './schema-for-models.js';
import { isImage } from './shown-media.js';
import { ANSWER_OPTIONS, answerCall, type AnswerOptions, type ToolAnswer } from './tool-answer.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

export type { JsonObject } from '../json/json-object.js';
export type { MediaBlock } from '../results/split-content.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { AnswerOptions, Confirm } from './tool-answer.js';
export type { CallLimits, ShownResult, ToolSource } from './tool-source.js';

/** Options of `toTools`. */
export interface ToolsOptions extends AnswerOptions {
  /**
   * Selects the data that the model gets, up to 20 pieces and 10 MiB of base64 in a result; the text names the rest.
   * Choose what the model accepts. If it throws, the data is not shown. Default: PNG, JPEG, GIF and WebP images of at
   * most 5 MiB.
   */
  readonly shows?: (block: MediaBlock) => boolean;
}

/** Options of `liveTools`. */
export interface LiveOptions extends ToolsOptions {
  /** Name of the middleware, unique within the agent. Default `TroupeTools`. */
  readonly name?: string;
}

const TOOLS_OPTIONS: OptionNames<ToolsOptions> = { ...ANSWER_OPTIONS, shows: true };
const LIVE_OPTIONS: OptionNames<LiveOptions> = { ...TOOLS_OPTIONS, name: true };

/**
 * The tools that a troupe or a view has now. A call returns a `ToolMessage`: its `artifact` is the unchanged result,
 * and its `status` is `error` if the call failed. An aborted call rejects with the reason of the signal.
 *
 * @param source A troupe or a view.
 * @param options Limits of calls and answers, and the data that the model gets. Default: the usual limits.
 *
 * @throws `TypeError` for an unknown option, or if `maxCharacters` is not a number from 1,000 to 1,000,000.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { toTools } from 'mcp-troupe/langchain';
 *
 * const troupe = createTroupe({ config: '.mcp.json' });
 * await troupe.start();
 * const tools = toTools(troupe);
 * ```
 */
export function toTools(source: ToolSource, options: ToolsOptions = {}): DynamicStructuredTool[] {
  requireKnown('toTools', options, TOOLS_OPTIONS);
  checkLimit(options.maxCharacters);
  return source.tools.map((tool) => new McpTool(source, tool, options));
}

/**
 * A middleware for `createAgent` that offers the current tools of a troupe or a view at every step. Fixed tools of the
 * agent win over tools of the same name. It answers calls of unknown tools, so place it after other middlewares that
 * add tools.
 *
 * @param source A troupe or a view.
 * @param options Name of the middleware, limits of calls and answers, and the data that the model gets. Default: as
 *   each field says.
 *
 * @throws `TypeError` for an unknown option, or if `maxCharacters` is not a number from 1,000 to 1,000,000.
 *
 * @example
 * ```ts
 * import { createAgent } from 'langchain';
 * import { createTroupe } from 'mcp-troupe';
 * import { liveTools } from 'mcp-troupe/langchain';
 *
 * const troupe = createTroupe({ config: '.mcp.json' });
 * await troupe.start();
 * const agent = createAgent({ model: 'openai:gpt-5', tools: [], middleware: [liveTools(troupe)] });
 * ```
 */
export function liveTools(source: ToolSource, options: LiveOptions = {}): AgentMiddleware {
  requireKnown('liveTools', options, LIVE_OPTIONS);
  checkLimit(options.maxCharacters);
  const made = new MadeTools(source, (tool) => new McpTool(source, tool, options));
  return {
    name: options.name ?? 'TroupeTools',
    wrapModelCall: (request, handler) => {
      const taken = new Set(request.tools.map(({ name }) => name));
      const offered = [...made.present.values()].filter(({ name }) => !taken.has(name));
      return handler({ ...request, tools: [...request.tools, ...offered] });
    },
    wrapToolCall: (request, handler) => {
      const { name } = request.toolCall;
      const given = request.tool instanceof UnknownTool ? undefined : request.tool;
      const tool = given ?? made.get(name) ?? new UnknownTool(source, name, options);
      return handler({ ...request, tool });
    },
  };
}

class McpTool extends DynamicStructuredTool {
  constructor(source: ToolSource, tool: CatalogTool, options: ToolsOptions) {
    const { name, title, description = title ?? '' } = tool;
    const { shows = isImage } = options;
    super({
      name,
      description: wellFormed(description),
      schema: schemaForModels(tool),
      metadata: { server: tool.server, tool: tool.tool },
      responseFormat: 'content_and_artifact',
      func: async (args: unknown, _manager, config?: RunnableConfig) => {
        const call = { name, args, signal: config?.signal, shows };
        const { answer, result } = await answerCall(source, call, options);
        return [toContent(answer, name, result, idOf(config)), result];
      },
    });
  }

  /**
   * Skips LangChain's validation of the arguments, which names no path and fails on some patterns: Troupe validates
   * them before it sends them.
   */
  override call(...args: Parameters<DynamicStructuredTool['call']>): Promise<ToolMessage | string> {
    const unchecked = Object.create(this, { schema: { value: {} } }) as this;
    return super.call.apply(unchecked, args) as Promise<ToolMessage | string>;
  }
}

/** Answers the call of an unknown tool; LangChain itself would name only the fixed tools of the agent. */
class UnknownTool extends McpTool {
  constructor(source: ToolSource, name: string, options: ToolsOptions) {
    const tool = { name, server: '', tool: name, source: '', requiresConfirmation: false, stale: false };
    super(source, { ...tool, inputSchema: { type: 'object' } }, options);
  }
}

/** An error is returned as a message, because only a message has a status. */
function toContent(
  answer: ToolAnswer,
  name: string,
  artifact: CallToolResult | undefined,
  id: string | undefined,
): MessageContent | ToolMessage {
  const content = toMessageContent(answer);
  if (!answer.isError || id === undefined) return content;
  return new ToolMessage({ content, name, artifact, tool_call_id: id, status: 'error' });
}

/** Images as data URLs: the form that most model packages understand in a tool message. */
function toMessageContent({ text, blocks }: ToolAnswer): MessageContent {
  if (blocks.length === 0) return text;
  const media = blocks.map(({ type, data, mimeType }) =>
    type === 'image'
      ? { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }
      : { type, source_type: 'base64', data, mime_type: mimeType },
  );
  return [{ type: 'text', text }, ...media];
}

function idOf(config: RunnableConfig | undefined): string | undefined {
  const { toolCall } = (config ?? {}) as { toolCall?: { id?: string } };
  return toolCall?.id;
}
