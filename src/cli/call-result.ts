/** The result of a call as a person reads it: text as it is, everything else as JSON. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export function renderCallResult({ content, structuredContent }: CallToolResult): string {
  if (content.length === 0) return structuredContent === undefined ? '' : toJson(structuredContent);
  return content.map((block) => (block.type === 'text' ? block.text : toJson(block))).join('\n');
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
