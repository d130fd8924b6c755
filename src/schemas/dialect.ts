/** The supported dialects of JSON Schema (MCP specification 2025-11-25, "JSON Schema usage"). */
import type { SchemaDraft } from '@cfworker/json-schema';

const DIALECTS: readonly (readonly [name: RegExp, draft: SchemaDraft])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, '2020-12'],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, '2019-09'],
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, '7'],
  [/^https?:\/\/json-schema\.org\/draft-04\/schema#?$/, '4'],
  [/^https?:\/\/json-schema\.org\/schema#?$/, '2020-12'],
];

/** The dialect of a `$schema`; undefined if it is not supported. */
export function draftOf(name: unknown): SchemaDraft | undefined {
  if (name === undefined) return '2020-12';
  return DIALECTS.find(([pattern]) => typeof name === 'string' && pattern.test(name))?.[1];
}
