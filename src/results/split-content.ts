/**
 * Splits a result into text for the model and blocks of data.
 *
 * A1. Everything that may hold words of a server becomes text, so that it is scanned, limited and wrapped. A block
 *     holds only data and its media type.
 * A2. Nothing is left out: an unknown block is shown as JSON; if that fails, the text gives the reason.
 */
import type { CallToolResult } from '../mcp/server-offers.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { writeJson } from '../json/write-json.js';
import { splitsSurrogatePair } from '../text/visible-text.js';
import { digitGroups } from '../text/digit-groups.js';

/** Data that is not text. Images and audio have the fields of MCP's own blocks. */
export interface MediaBlock {
  /** `image` and `audio` are MCP's own blocks; `file` is any other data. */
  readonly type: 'image' | 'audio' | 'file';
  /** Base64, without line breaks. */
  readonly data: string;
  /** `type/subtype` in lower case, without parameters. */
  readonly mimeType: string;
}

export interface ResultParts {
  readonly text: string;
  /** In the order of the result. */
  readonly blocks: readonly MediaBlock[];
}

/** Blocks between two pauses. */
const BLOCKS_AT_A_TIME = 5_000;
const MEDIA_TYPE = /^[a-z0-9][\w.+-]{0,62}\/[\w.+-]{1,126}$/;
const UNKNOWN_MEDIA = 'application/octet-stream';

/** Pauses every few thousand blocks. */
export function* splitContent(result: CallToolResult): Generator<undefined, ResultParts, undefined> {
  const { content, structuredContent, toolResult }: JsonObject = result;
  const texts: string[] = [];
  const blocks: MediaBlock[] = [];
  let hasVisibleText = false;
  let taken = 0;
  for (const each of toBlocks(content ?? toolResult)) {
    const { text, json, media } = partOf(each);
    const shown = text ?? json;
    if (shown !== undefined) texts.push(shown);
    if (media !== undefined) blocks.push(media);
    hasVisibleText ||= text !== undefined && /\S/.test(text);
    taken += 1;
    if (taken % BLOCKS_AT_A_TIME === 0) yield;
  }
  if (!hasVisibleText && structuredContent !== undefined) texts.push(toJson(structuredContent));
  return { text: texts.join('\n'), blocks };
}

function toBlocks(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return content === undefined ? [] : [content];
}

/** The result of one block. */
interface Part {
  /** The text of a text block. */
  readonly text?: string;
  /** Any other block as JSON, without its data. */
  readonly json?: string;
  readonly media?: MediaBlock;
}

function partOf(block: unknown): Part {
  try {
    return (isJsonObject(block) ? readablePart(block) : undefined) ?? { json: toJson(block) };
  } catch (error) {
    return { json: unshowable(error) };
  }
}

/** Undefined for an unknown block. */
function readablePart(block: JsonObject): Part | undefined {
  const { type, text, data, mimeType, resource } = block;
  if (type === 'text' && typeof text === 'string') return { text };
  if (type === 'resource' && isJsonObject(resource)) {
    const { blob, ...described } = resource;
    const media = toMedia(blob, described['mimeType'] ?? UNKNOWN_MEDIA);
    return media && { media, json: toJson({ ...block, resource: described }) };
  }
  if (type !== 'image' && type !== 'audio') return undefined;
  const media = toMedia(data, mimeType);
  return media?.type === type ? { media } : undefined;
}

function toMedia(data: unknown, mimeType: unknown): MediaBlock | undefined {
  if (typeof data !== 'string' || typeof mimeType !== 'string') return undefined;
  const essence = mimeType.replace(/;.*$/s, '').trim().toLowerCase();
  const base64 = data.replace(/[\t\n\r ]/g, '');
  if (!MEDIA_TYPE.test(essence) || base64 === '' || /[^A-Za-z\d+/=]/.test(base64)) return undefined;
  const [kind] = essence.split('/');
  return { type: kind === 'image' || kind === 'audio' ? kind : 'file', data: base64, mimeType: essence };
}

function toJson(value: unknown): string {
  try {
    return writeJson(value) ?? 'null';
  } catch (error) {
    return unshowable(error);
  }
}

function unshowable(error: unknown): string {
  const why = error instanceof Error ? error.message : 'no reason was given';
  return `[A part of the result cannot be shown as JSON: ${why}]`;
}

// Shortens a text that is too long to its beginning, a notice and its end.

export const DEFAULT_LIMIT = 50_000;
const MIN_LIMIT = 1_000;
const MAX_LIMIT = 1_000_000;

/** The share of the shown characters that is taken from the beginning. */
const HEAD_SHARE = 0.7;

/** Throws a `TypeError` if it is not a limit of characters; undefined stands for the default. */
export function checkLimit(limit: unknown = DEFAULT_LIMIT): void {
  if (typeof limit === 'number' && limit >= MIN_LIMIT && limit <= MAX_LIMIT) return;
  const [least, most] = [MIN_LIMIT, MAX_LIMIT].map(digitGroups);
  throw new TypeError(`'maxCharacters' must be a number of characters from ${least} to ${most}.`);
}

/**
 * At most `limit` characters. `notice` says how many are left out; it is never cut, and stands alone if it needs all
 * the room. No surrogate pair is split.
 */
export function limitText(text: string, limit: number, notice: (leftOut: number) => string): string {
  if (text.length <= limit) return text;
  const room = Math.max(0, limit - notice(text.length).length);
  const head = backToWhole(text, Math.ceil(room * HEAD_SHARE));
  const tail = onToWhole(text, text.length - (room - Math.ceil(room * HEAD_SHARE)));
  return text.slice(0, head) + notice(tail - head) + text.slice(tail);
}

function backToWhole(text: string, at: number): number {
  return splitsSurrogatePair(text, at) ? at - 1 : at;
}

function onToWhole(text: string, at: number): number {
  return splitsSurrogatePair(text, at) ? at + 1 : at;
}
