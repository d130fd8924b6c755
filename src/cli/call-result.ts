/** The result of a call as a person reads it: text as it is, everything else as JSON, also where it is not as it should be. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type JsonObject } from '../catalog/json-object.js';

export function renderCallResult(result: CallToolResult): string {
  const { content, structuredContent }: JsonObject = result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content].filter(isGiven);
  if (blocks.length === 0) return structuredContent === undefined ? '' : toJson(structuredContent);
  return blocks.map(textOf).join('\n');
}

function textOf(block: unknown): string {
  const isText = isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';
  return isText ? String(block['text']) : toJson(block);
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}
