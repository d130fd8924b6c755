/**
 * Converts a schema of an older dialect to JSON Schema 2020-12, by which some providers judge every tool. A keyword is
 * dropped if no dialect allows its value, so that the result refuses nothing that the original accepts.
 *
 * Converts one schema, without its subschemas.
 */
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { draftOf } from '../schemas/dialect.js';

const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

const isNever = (): boolean => false;

/** What keywords may hold (2020-12, all vocabularies), for those that are not checked before a tool is shown. */
const HOLDINGS: readonly (readonly [keywords: string, isFit: (value: unknown) => boolean])[] = [
  ['title description $comment $ref pattern format contentEncoding contentMediaType', isText],
  ['$id $anchor $dynamicRef $dynamicAnchor', isText],
  ['anyOf oneOf allOf prefixItems', (value) => !Array.isArray(value) || value.length > 0],
  ['$recursiveAnchor', isNever],
  ['minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains', isCount],
  ['minimum maximum exclusiveMinimum exclusiveMaximum', Number.isFinite],
  ['multipleOf', (value) => Number.isFinite(value) && Number(value) > 0],
  ['uniqueItems deprecated readOnly writeOnly', isFlag],
  ['examples', Array.isArray],
  ['$schema', (value) => draftOf(value) === '2020-12'],
];

const IS_FIT: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  HOLDINGS.flatMap(([keywords, isFit]) => keywords.split(' ').map((keyword) => [keyword, isFit])),
);

/** Keywords that hold a set, written as a list. */
const SETS = ['type', 'required'];

export function inNewestDialect(schema: JsonObject): JsonObject {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const lower = exclusiveMinimum === true ? asExclusive(schema, 'minimum', 'exclusiveMinimum') : schema;
  const upper = exclusiveMaximum === true ? asExclusive(lower, 'maximum', 'exclusiveMaximum') : lower;
  const entries = Object.entries(withPrefixItems(upper)).filter(
    ([keyword, value]) => IS_FIT.get(keyword)?.(value) ?? true,
  );
  return Object.fromEntries(
    entries.map(([keyword, value]) => [
      keyword,
      SETS.includes(keyword) && Array.isArray(value) ? [...new Set<unknown>(value)] : value,
    ]),
  );
}

/** An exclusive limit (draft-04). */
function asExclusive(schema: JsonObject, keyword: string, exclusive: string): JsonObject {
  const { [keyword]: limit, [exclusive]: _, ...rest } = schema;
  return limit === undefined ? rest : { ...rest, [exclusive]: limit };
}

/** A list whose items have a schema for each position (up to 2019-09). */
function withPrefixItems(schema: JsonObject): JsonObject {
  const { items, additionalItems, ...rest } = schema;
  if (!Array.isArray(items)) return schema;
  const others = isFlag(additionalItems) || isJsonObject(additionalItems) ? additionalItems : {};
  return { ...(items.length > 0 && { prefixItems: items }), ...rest, items: others };
}
