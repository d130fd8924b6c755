/**
 * Tools for Anthropic's Messages API: definitions for a request, and `tool_result` blocks for the `tool_use` blocks of a
 * message.
 *
 * Ask for the definitions anew for every request: then a running agent sees tools come and go. The types are those of the
 * `@anthropic-ai/sdk` package by their shape, so that it is not needed here.
 */
import { checkLimit } from '../calls/result/limit.js';
import type { MediaBlock } from '../calls/result/take-apart.js';
import { allAnswers } from './answer-all.js';
import { schemaForModels, type ObjectSchema } from './schema-for-models.js';
import { isImageOrPdf } from './shown-media.js';
import { answerCall, type AnswerOptions } from './tool-answer.js';
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

export interface MessagesTool {
  name: string;
  description?: string;
  input_schema: ObjectSchema;
}

/** A content block of a message. Only those of the type `tool_use` are for Troupe. */
export interface MessageBlock {
  readonly type: string;
  readonly id?: string | null;
  readonly name?: string | null;
  readonly input?: unknown;
}

export interface ToolResultBlock {
  type: 'tool_result';
  tool_use_id: string;
  content: ToolResultPart[];
  is_error: boolean;
}

export type ToolResultPart =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string } };

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** The tools that a troupe or a view has now, for `tools` of a request. */
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
 * Makes the calls of a message (`message.content`) side by side and gives the blocks that answer them, in the same order,
 * for the content of the next user message. Every block of the type `tool_use` is answered, all others are passed over;
 * take out the host's own before.
 */
export async function runToolCalls(
  source: ToolSource,
  content: readonly MessageBlock[],
  options: RunOptions = {},
): Promise<ToolResultBlock[]> {
  checkLimit(options.limit);
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
