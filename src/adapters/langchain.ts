/**
 * Tools for LangChain: structured tools, and a middleware that keeps the tools of a running `createAgent` agent live.
 *
 * Needs `@langchain/core`; `langchain` only for its types.
 */
import type { RunnableConfig } from '@langchain/core/runnables';
import { ToolMessage, type MessageContent } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import type { AgentMiddleware } from 'langchain';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { checkLimit } from '../calls/result/limit.js';
import type { MediaBlock } from '../calls/result/take-apart.js';
import type { CatalogTool } from '../catalog/registry.js';
import { MadeTools } from './made-tools.js';
import { schemaForModels } from './schema-for-models.js';
import { isImage } from './shown-media.js';
import { answerCall, type AnswerOptions, type ToolAnswer } from './tool-answer.js';
import type { ToolSource } from './tool-source.js';
import { wellFormed } from './well-formed.js';

export type { JsonObject } from '../catalog/json-object.js';
export type { MediaBlock } from '../calls/result/take-apart.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { AnswerOptions } from './tool-answer.js';
export type { CallLimits, ShownResult, ToolSource } from './tool-source.js';

export interface ToolsOptions extends AnswerOptions {
  /**
   * Which data a model is handed, as far as it is at most 20 pieces and 10 MiB of base64 a result; the rest is named in the
   * text. Depends on what the model takes. A throw counts as false. Default: PNG, JPEG, GIF and WebP images of at most
   * 5 MiB.
   */
  readonly shows?: (block: MediaBlock) => boolean;
}

export interface LiveOptions extends ToolsOptions {
  /** Name of the middleware, which no other one of the agent may have. Default `TroupeTools`. */
  readonly name?: string;
}

/**
 * The tools that a troupe or a view has now. A tool call gives a `ToolMessage` whose `artifact` is the untouched result,
 * and whose `status` is `error` where the answer is one; an abort rejects with the reason of the signal.
 */
export function toTools(source: ToolSource, options: ToolsOptions = {}): DynamicStructuredTool[] {
  checkLimit(options.limit);
  return source.tools.map((tool) => new McpTool(source, tool, options));
}

/**
 * A middleware for `createAgent` that offers the tools of a troupe or a view as they are at every step. Fixed tools of the
 * agent win over one of the same name. It answers calls of tools that nobody has, so let it come after other middlewares
 * that bring tools.
 */
export function liveTools(source: ToolSource, options: LiveOptions = {}): AgentMiddleware {
  checkLimit(options.limit);
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
   * Without LangChain's own look at the arguments, which names no path and stumbles over some patterns: Troupe looks at
   * them before it sends them.
   */
  override call(...args: Parameters<DynamicStructuredTool['call']>): Promise<ToolMessage | string> {
    const unchecked = Object.create(this, { schema: { value: {} } }) as this;
    return super.call.apply(unchecked, args) as Promise<ToolMessage | string>;
  }
}

/** Answers for a tool that nobody has; LangChain itself would name the fixed tools of the agent only. */
class UnknownTool extends McpTool {
  constructor(source: ToolSource, name: string, options: ToolsOptions) {
    const tool = { name, server: '', tool: name, source: '', requiresApproval: false, stale: false };
    super(source, { ...tool, inputSchema: { type: 'object' } }, options);
  }
}

/** An error is a message of its own, because only that can say so. */
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
