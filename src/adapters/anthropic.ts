/**
 * Tools for Anthropic's Messages API: definitions for a request, and `tool_result` blocks for the `tool_use` blocks of
 * a message.
 *
 * Get the definitions anew for each request, so that a running agent notices added and removed tools. The types match the
 * types of the `@anthropic-ai/sdk` package, which need not be installed.
 */
import { checkLimit, type MediaBlock } from '../results/split-content.js';
import { allAnswers, type ToolSource, wellFormed } from './tool-source.js';
import { schemaForModels, type ObjectSchema } from './schema-for-models.js';
import { isImageOrPdf } from './shown-media.js';
import { answerCall, RUN_OPTIONS, type RunOptions } from './tool-answer.js';
import { requireKnown } from '../text/option-names.js';

export type { JsonObject } from '../json/json-object.js';
export type { MediaBlock } from '../results/split-content.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { ObjectSchema } from './schema-for-models.js';
export type { AnswerOptions, Confirm, RunOptions } from './tool-answer.js';
export type { CallLimits, ShownResult, ToolSource } from './tool-source.js';

/** A tool of a Messages request. */
export interface MessagesTool {
  /** Name for the model, unique over all servers. */
  name: string;
  /** The server's description. Absent if it gives none. */
  description?: string;
  /** JSON Schema of the arguments. */
  input_schema: ObjectSchema;
}

/** A content block of a message. Troupe answers only blocks of the type `tool_use`. */
export interface MessageBlock {
  /** Kind of the block. Blocks of any other type than `tool_use` are skipped. */
  readonly type: string;
  /** Id of the call from the API; `tool_use_id` of the answer repeats it. */
  readonly id?: string | null;
  /** Name of the tool, as in its definition. */
  readonly name?: string | null;
  /** Arguments of the call as an object, written by the model. */
  readonly input?: unknown;
}

/** The answer to one `tool_use` block, for the next user message. */
export interface ToolResultBlock {
  /** Always `tool_result`, as the API requires. */
  type: 'tool_result';
  /** `id` of the block that this one answers. */
  tool_use_id: string;
  /** The result or the error: text within its boundary first, then images and PDF files. */
  content: ToolResultPart[];
  /** True if the tool failed, or if the call could not be made. */
  is_error: boolean;
}

/** A part of an answer: text, an image or a PDF file. */
export type ToolResultPart =
  /** Text of the answer. */
  | {
      type: 'text';
      /** The text within its boundary. */
      text: string;
    }
  /** An image. */
  | {
      type: 'image';
      /** The image itself. */
      source: {
        /** Always `base64`. */
        type: 'base64';
        /** MIME type of the image. */
        media_type: ImageType;
        /** The image in base64. */
        data: string;
      };
    }
  /** A PDF file. */
  | {
      type: 'document';
      /** The file itself. */
      source: {
        /** Always `base64`. */
        type: 'base64';
        /** MIME type of the file. */
        media_type: 'application/pdf';
        /** The file in base64. */
        data: string;
      };
    };

/** MIME types of the images that the Messages API accepts. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/**
 * The tools that a troupe or a view has now, for `tools` of a request.
 *
 * @param source A troupe or a view.
 *
 * @example
 * ```ts
 * import { toTools } from 'mcp-troupe/anthropic';
 *
 * const tools = toTools(troupe);
 * ```
 */
export function toTools(source: ToolSource): MessagesTool[] {
  return source.tools.map((tool) => {
    const { name, title, description = title } = tool;
    return {
      name,
      ...(description !== undefined && { description: wellFormed(description) }),
      input_schema: schemaForModels(tool),
    };
  });
}

/**
 * Makes the calls of a message (`message.content`) concurrently and returns the blocks that answer them, in the same
 * order, for the content of the next user message. It answers every block of the type `tool_use` and skips all others;
 * remove calls of the host's own tools first.
 *
 * @param source A troupe or a view.
 * @param content The content of the message, with blocks of any type.
 * @param options Limits of the calls and of their answers, and a signal that aborts all calls. Default: no signal and
 *   the usual limits.
 *
 * @throws `TypeError` for an unknown option, or if `maxCharacters` is not a number from 1,000 to 1,000,000.
 * @throws The reason of the signal, if it aborts.
 *
 * @example
 * ```ts
 * import { runToolCalls, type MessageBlock } from 'mcp-troupe/anthropic';
 *
 * declare const message: { content: MessageBlock[] };
 * const results = await runToolCalls(troupe, message.content);
 * ```
 */
export async function runToolCalls(
  source: ToolSource,
  content: readonly MessageBlock[],
  options: RunOptions = {},
): Promise<ToolResultBlock[]> {
  requireKnown('runToolCalls', options, RUN_OPTIONS);
  checkLimit(options.maxCharacters);
  return allAnswers(
    content.filter(({ type }) => type === 'tool_use').map((block) => answerBlock(source, block, options)),
  );
}

async function answerBlock(
  source: ToolSource,
  { id, name, input }: MessageBlock,
  options: RunOptions,
): Promise<ToolResultBlock> {
  const call = { name: String(name), args: input, signal: options.signal, shows: isImageOrPdf };
  const { answer } = await answerCall(source, call, options);
  return {
    type: 'tool_result',
    tool_use_id: String(id),
    content: [{ type: 'text', text: answer.text }, ...answer.blocks.map(toPart)],
    is_error: answer.isError,
  };
}

function toPart({ type, data, mimeType }: MediaBlock): ToolResultPart {
  return type === 'image'
    ? { type, source: { type: 'base64', media_type: mimeType as ImageType, data } }
    : { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
}
