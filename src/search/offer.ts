/**
 * Which tools a model is offered at once, and which it has to search for. Pure; the adapters and the gateway use the same
 * rules.
 *
 * O1. A pinned tool is always offered.
 * O2. The same tools and the same offer always give the same choice: tokens are estimated, not counted by a tokenizer of a
 *     model.
 */
import { readShape } from '../config/entry/read-shape.js';
import { subset, TEXTS, type Schema } from '../config/entry/schema.js';
import { describeProblem, fieldName } from '../config/entry/problem.js';
import { isAllowed } from '../config/entry/tool-filter.js';
import type { SearchedTool } from './tool-index.js';

/**
 * `all` offers every tool. `search` offers the pinned tools and a search for all others. `auto` is `all` while the
 * definitions of all tools take at most `maxTokens`, and `search` beyond that.
 */
export type OfferMode = 'all' | 'search' | 'auto';

/** Which tools a model is offered at once. */
export interface OfferOptions {
  /** All tools, or a search. Default `auto`. */
  readonly mode?: OfferMode;
  /** Tokens that the definitions of all tools may take in mode `auto`, estimated as a quarter of their characters. Default 10,000. */
  readonly maxTokens?: number;
  /** Names for the model of further tools that are always offered; `*` is a wildcard. Default: those that entries pin. */
  readonly pinned?: readonly string[];
}

/** Which tools a model is offered at once: a mode alone stands for its options. */
export type Offer = OfferMode | OfferOptions;

/** The two parts of a list of tools. */
export interface OfferedTools<T> {
  /** The tools that a model is offered. */
  readonly shown: readonly T[];
  /** The tools that it can search for. Empty if it is offered all. */
  readonly hidden: readonly T[];
}

export const DEFAULT_MAX_TOKENS = 10_000;
const CHARACTERS_OF_A_TOKEN = 4;

const MODES = ['all', 'search', 'auto'] as const satisfies readonly OfferMode[];
const MODE: Schema = { type: 'string', enum: MODES };
const OPTIONS = {
  mode: MODE,
  maxTokens: { type: 'integer', minimum: 0, title: 'a number of tokens' },
  pinned: TEXTS,
} satisfies { readonly [K in keyof OfferOptions]-?: Schema };

/** The shape of an offer, with further options of an adapter. */
export function offerSchema(further: Readonly<Record<string, Schema>> = {}): Schema {
  return { anyOf: [MODE, { ...subset({ ...OPTIONS, ...further }), title: "an object with 'mode'" }] };
}

/** Throws a `TypeError` for an offer of the wrong shape. */
export function checkOffer(called: string, offer: unknown, schema: Schema = offerSchema()): void {
  if (offer === undefined) return;
  readShape(offer, schema, ['offer'], (path, code, message) => {
    throw new TypeError(describeProblem({ code, source: called, field: fieldName(path), message }));
  });
}

/** `all` without an offer. `isPinned` says which tools the configuration pins. */
export function chooseTools<T extends SearchedTool>(
  tools: readonly T[],
  offer: Offer | undefined,
  isPinned: (tool: T) => boolean,
): OfferedTools<T> {
  const { mode = 'auto', maxTokens = DEFAULT_MAX_TOKENS, pinned = [] } = toOptions(offer);
  if (mode === 'all' || (mode === 'auto' && tokensOf(tools) <= maxTokens))
    return { shown: tools, hidden: [] };
  const isShown = (tool: T): boolean => isPinned(tool) || isAllowed(tool.name, { allow: pinned });
  return { shown: tools.filter(isShown), hidden: tools.filter((tool) => !isShown(tool)) };
}

function toOptions(offer: Offer | undefined): OfferOptions {
  return typeof offer === 'object' ? offer : { mode: offer ?? 'all' };
}

const estimates = new WeakMap<SearchedTool, number>();

/** Tokens that the definitions take in a request to a model, estimated as a quarter of their characters. */
export function tokensOf(tools: readonly SearchedTool[]): number {
  return tools.reduce((sum, tool) => sum + tokensOfOne(tool), 0);
}

function tokensOfOne(tool: SearchedTool): number {
  const known = estimates.get(tool);
  if (known !== undefined) return known;
  const { name, title, description = title, inputSchema } = tool;
  const estimate = tokensOfText(JSON.stringify({ name, description, inputSchema }));
  estimates.set(tool, estimate);
  return estimate;
}

/** Tokens that a text takes, estimated in the same way. */
export function tokensOfText({ length }: string): number {
  return Math.ceil(length / CHARACTERS_OF_A_TOKEN);
}
