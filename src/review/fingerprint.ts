/**
 * What of a tool is reviewed, and its fingerprint: everything that a model reads of it, and nothing else.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { hashOf } from '../config/entry-hash.js';

/** A tool without what no model reads. */
export type ReviewedTool = Pick<
  Tool,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>;

/** A field whose change makes another tool of it. */
export type ReviewedField = Exclude<keyof ReviewedTool, 'name'>;

const FIELDS = [
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
] as const satisfies readonly ReviewedField[];

export function toReviewed(tool: ReviewedTool): ReviewedTool {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return Object.freeze({
    name,
    inputSchema,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  });
}

/** SHA-256 (hex) of the name and the reviewed fields; the order of keys does not count. */
export function fingerprint(tool: ReviewedTool): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return hashOf({ name, title, description, inputSchema, outputSchema, annotations });
}

/** The fields in which two tools of one name differ; all that there are where there was none before. */
export function changedFields(before: ReviewedTool | undefined, now: ReviewedTool): readonly ReviewedField[] {
  return FIELDS.filter((field) => hashOf([before?.[field]]) !== hashOf([now[field]]));
}
