/** The reviewed part of a tool, and its fingerprint: everything that a model reads of it, and nothing else. */
import { hashOf } from '../json/json-hash.js';
import type { ReviewedField, ReviewedTool } from '../../machines/policy/review.js';

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

/** The fields in which two tools of one name differ; every present field if there was no tool before. */
export function changedFields(before: ReviewedTool | undefined, now: ReviewedTool): readonly ReviewedField[] {
  return FIELDS.filter((field) => hashOf([before?.[field]]) !== hashOf([now[field]]));
}
