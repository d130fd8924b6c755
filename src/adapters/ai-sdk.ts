/**
 * Tools for the AI SDK (`ai`): `generateText`, `streamText` and `ToolLoopAgent`.
 *
 * The tool set is live: the SDK reads it again for every step, so that a running agent sees tools come and go. A spread
 * (`{ ...toTools(troupe) }`) would be a copy of the moment; the host's own tools belong into `own` instead.
 */
import { dynamicTool, jsonSchema, type JSONSchema7, type ToolSet } from 'ai';
import { checkLimit } from '../calls/result/limit.js';
import type { MediaBlock } from '../calls/result/take-apart.js';
import type { CatalogTool } from '../catalog/registry.js';
import { AskedAbout } from './asked-about.js';
import { MadeTools } from './made-tools.js';
import { schemaForModels } from './schema-for-models.js';
import { isImage } from './shown-media.js';
import { answerCall, type AnswerOptions, type ToolAnswer } from './tool-answer.js';
import type { ToolSource } from './tool-source.js';
import { wellFormed } from './well-formed.js';

export type { JsonObject } from '../catalog/json-object.js';
export type { MediaBlock } from '../calls/result/take-apart.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { AnswerOptions, ToolAnswer } from './tool-answer.js';
export type { CallLimits, ShownResult, ToolSource } from './tool-source.js';

export interface ToolsOptions extends AnswerOptions {
  /** Tools of the host, offered as well. They win over one of the same name. */
  readonly own?: ToolSet;
  /**
   * Asked before every call of a tool whose `requiresApproval` is true: whether the SDK ends the step with an approval
   * request and waits for the answer in the next messages; what has become another tool by then is not called, as far as
   * these are the same `toTools`. `approve` asks on the spot instead. Default: false.
   */
  readonly needsApproval?: (tool: CatalogTool, input: unknown) => boolean | PromiseLike<boolean>;
  /**
   * Which data a model is handed, as far as it is at most 20 pieces and 10 MiB of base64 a result; the rest is named in the
   * text. Depends on what the model takes. A throw counts as false. Default: PNG, JPEG, GIF and WebP images of at most
   * 5 MiB.
   */
  readonly shows?: (block: MediaBlock) => boolean;
}

/**
 * The tools of a troupe or a view as a live `ToolSet`. A call's output is a `ToolAnswer`; an error is one too, and an
 * abort rejects with the reason of the signal.
 */
export function toTools(source: ToolSource, options: ToolsOptions = {}): ToolSet {
  checkLimit(options.limit);
  const own: ToolSet = options.own ?? {};
  const asked = new AskedAbout();
  const made = new MadeTools(source, (tool) => toTool(source, tool, asked, options));
  const find = (key: string | symbol): ToolSet[string] | undefined => {
    if (typeof key !== 'string') return undefined;
    return Object.hasOwn(own, key) ? own[key] : made.get(key);
  };
  const isOffered = (key: string | symbol): boolean =>
    typeof key === 'string' && (Object.hasOwn(own, key) || made.present.has(key));
  return new Proxy<ToolSet>(Object.create(null) as ToolSet, {
    get: (_, key) => find(key),
    has: (_, key) => isOffered(key),
    ownKeys: () => [...new Set([...Object.keys(own), ...made.present.keys()])],
    getOwnPropertyDescriptor: (_, key) =>
      isOffered(key)
        ? { value: find(key), enumerable: true, configurable: true, writable: false }
        : undefined,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });
}

function toTool(
  source: ToolSource,
  tool: CatalogTool,
  asked: AskedAbout,
  options: ToolsOptions,
): ToolSet[string] {
  const { name } = tool;
  const title = wellFormed(tool.title);
  const description = wellFormed(tool.description) ?? title;
  const { needsApproval, shows = isImage } = options;
  return {
    ...dynamicTool({
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      metadata: { server: tool.server, tool: tool.tool },
      inputSchema: jsonSchema(schemaForModels(tool) as JSONSchema7),
      execute: async (args, { abortSignal: signal, toolCallId }) => {
        const call = { name, args, signal, shows, lookedAt: asked.take(toolCallId, name) };
        const { answer } = await answerCall(source, call, options);
        return answer;
      },
      toModelOutput: ({ output }) => toModelOutput(output as ToolAnswer),
    }),
    ...(needsApproval !== undefined &&
      tool.requiresApproval && {
        needsApproval: async (input: unknown, { toolCallId }: { toolCallId: string }) => {
          const isNeeded = await needsApproval(tool, input);
          if (isNeeded) asked.note(toolCallId, tool);
          return isNeeded;
        },
      }),
  };
}

type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]['toModelOutput']>>>;

function toModelOutput({ text, blocks, isError }: ToolAnswer): ModelOutput {
  if (isError) return { type: 'error-text', value: text };
  if (blocks.length === 0) return { type: 'text', value: text };
  const media = blocks.map(({ type, data, mimeType: mediaType }) =>
    type === 'image'
      ? { type: 'image-data' as const, data, mediaType }
      : { type: 'file-data' as const, data, mediaType },
  );
  return { type: 'content', value: [{ type: 'text', text }, ...media] };
}
