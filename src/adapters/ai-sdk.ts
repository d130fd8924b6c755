/**
 * Tools for the AI SDK (`ai`): `generateText`, `streamText` and `ToolLoopAgent`.
 *
 * The tool set is live: the SDK reads it again for every step, so that a running agent sees tools come and go. A spread
 * (`{ ...toTools(troupe) }`) would be a fixed copy; pass the host's own tools as `own` instead.
 */
import * as ai from 'ai';
import { dynamicTool, jsonSchema, type JSONSchema7, type ToolSet } from 'ai';
import { checkLimit, type MediaBlock } from '../results/split-content.js';
import type { CatalogTool } from '../catalog/registry.js';
import { MadeTools, type ToolSource, wellFormed } from './tool-source.js';
import { PendingConfirmations } from './pending-confirmations.js';
import { schemaForModels } from './schema-for-models.js';
import { isImage } from './shown-media.js';
import { ANSWER_OPTIONS, answerCall, type AnswerOptions, type ToolAnswer } from './tool-answer.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

export type { JsonObject } from '../json/json-object.js';
export type { MediaBlock } from '../results/split-content.js';
export type { CatalogTool } from '../catalog/registry.js';
export type { AnswerOptions, Confirm, ToolAnswer } from './tool-answer.js';
export type { CallLimits, ShownResult, ToolSource } from './tool-source.js';

/** Options of `toTools`. */
export interface ToolsOptions extends AnswerOptions {
  /** Tools of the host, offered as well. They win over tools of the same name. */
  readonly own?: ToolSet;
  /**
   * Called before every call of a tool, unless its `requiresConfirmation` is false. If it returns true, the SDK ends
   * the step with an approval request and expects the answer in the next messages. If the tool has changed by
   * then, it is not called, provided that the tool set comes from the same `toTools`. `confirm` asks at once
   * instead. Default: true for tools whose `requiresConfirmation` is true, unless there is a `confirm`.
   */
  readonly needsApproval?: (tool: CatalogTool, input: unknown) => boolean | PromiseLike<boolean>;
  /**
   * Selects the data that the model gets, up to 20 pieces and 10 MiB of base64 in a result; the text names the rest.
   * Choose what the model accepts. If it throws, the data is not shown. Default: PNG, JPEG, GIF and WebP images of at
   * most 5 MiB.
   */
  readonly shows?: (block: MediaBlock) => boolean;
}

const TOOLS_OPTIONS: OptionNames<ToolsOptions> = {
  ...ANSWER_OPTIONS,
  own: true,
  needsApproval: true,
  shows: true,
};

/**
 * The tools of a troupe or a view as a live `ToolSet`. The output of a call is a `ToolAnswer`, even if the call failed.
 * An aborted call rejects with the reason of the signal.
 *
 * @param source A troupe or a view.
 * @param options The host's own tools, approval, and limits of calls and answers. Default: no tools of its own,
 *   and no approval.
 *
 * @throws `TypeError` for an unknown option, or if `maxCharacters` is not a number from 1,000 to 1,000,000.
 *
 * @example
 * ```ts
 * import { generateText, type LanguageModel } from 'ai';
 * import { createTroupe } from 'mcp-troupe';
 * import { toTools } from 'mcp-troupe/ai-sdk';
 *
 * declare const model: LanguageModel;
 * const troupe = createTroupe({ config: '.mcp.json' });
 * await troupe.start();
 * const { text } = await generateText({ model, tools: toTools(troupe), prompt: 'Read README.md.' });
 * ```
 */
export function toTools(source: ToolSource, options: ToolsOptions = {}): ToolSet {
  requireKnown('toTools', options, TOOLS_OPTIONS);
  checkLimit(options.maxCharacters);
  const own: ToolSet = options.own ?? {};
  const asked = new PendingConfirmations();
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
    // A tool that is gone is not listed, but found: it answers a late call.
    getOwnPropertyDescriptor: (_, key) => {
      const value = find(key);
      if (value === undefined) return undefined;
      return { value, enumerable: isOffered(key), configurable: true, writable: false };
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });
}

function toTool(
  source: ToolSource,
  tool: CatalogTool,
  asked: PendingConfirmations,
  options: ToolsOptions,
): ToolSet[string] {
  const { name } = tool;
  const title = wellFormed(tool.title);
  const description = wellFormed(tool.description) ?? title;
  const isRequired = (): boolean => tool.requiresConfirmation === true && options.confirm === undefined;
  const { confirm = 'never', needsApproval = isRequired, shows = isImage } = options;
  return {
    ...dynamicTool({
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      metadata: { server: tool.server, tool: tool.tool },
      inputSchema: jsonSchema(schemaForModels(tool) as JSONSchema7),
      execute: async (args, { abortSignal: signal, toolCallId }) => {
        const call = { name, args, signal, shows, expectedTool: asked.take(toolCallId, name) };
        const { answer } = await answerCall(source, call, { ...options, confirm });
        return answer;
      },
      toModelOutput: ({ output }) => toModelOutput(output as ToolAnswer),
    }),
    ...(tool.requiresConfirmation !== false && {
      needsApproval: async (input: unknown, { toolCallId }: { toolCallId: string }) => {
        const isNeeded = await needsApproval(tool, input);
        if (isNeeded) asked.note(toolCallId, tool);
        return isNeeded;
      },
    }),
  };
}

type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]['toModelOutput']>>>;

/** Version 7 of the SDK has one form for data of any kind. It warns of the two forms of version 6, which does not know the new one. */
const TAKES_FILES = 'isStepCount' in ai;

function toModelOutput({ text, blocks, isError }: ToolAnswer): ModelOutput {
  if (isError) return { type: 'error-text', value: text };
  if (blocks.length === 0) return { type: 'text', value: text };
  const media = blocks.map(({ type, data, mimeType: mediaType }) =>
    TAKES_FILES
      ? { type: 'file', data: { type: 'data', data }, mediaType }
      : { type: type === 'image' ? 'image-data' : 'file-data', data, mediaType },
  );
  return { type: 'content', value: [{ type: 'text', text }, ...media] } as ModelOutput;
}
