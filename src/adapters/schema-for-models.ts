/**
 * The input schema of a tool in a form that every model provider accepts. A provider refuses a whole request for one
 * schema that it does not accept, so one tool would make all others unusable.
 *
 * J1. Only what providers are known to refuse is changed: a choice (`anyOf` and the like) at the top, objects without
 *     `properties`, arrays without `items`, what JSON Schema 2020-12 does not allow, names of
 *     arguments that are not `[a-zA-Z0-9_.-]{1,64}`, references to parts that were removed, and lone surrogates.
 * J2. The result accepts at least what the tool accepts. Arguments are still checked against the tool's own schema.
 * J3. What it accepts beyond that is narrowed in words: by the whole rule, or by its choices in short.
 */
import { isJsonObject, type JsonObject, referredTo } from '../json/json-object.js';
import type { CatalogTool } from '../catalog/registry.js';
import { toAnyOf, argumentsNamedIn, propertiesOf, describedWith } from './rule-in-words.js';
import { wellFormed } from './tool-source.js';
import { draftOf } from '../schemas/plain-schema.js';
import { asText } from '../text/as-text.js';

/** A JSON Schema of an object, in the form that model APIs accept. */
export interface ObjectSchema {
  [keyword: string]: unknown;
  /** Always `object`. */
  type: 'object';
  /** Schema of each argument by name; empty if the tool takes none. */
  properties: Record<string, unknown>;
}

/** Keywords that providers refuse at the top of a schema. */
const CHOICES = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'] as const;
const HOLDS_A_SCHEMA = [
  'items',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
];
const HOLDS_A_LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const HOLDS_NAMED_ONES = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
];
/** Names of arguments that providers accept at the top of a schema. */
const TAKEN_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

const made = new WeakMap<object, ObjectSchema>();

/** Returns the same object for the same schema. The schema is acyclic and of bounded depth (see `tool-check.ts`). */
export function schemaForModels({ inputSchema }: CatalogTool): ObjectSchema {
  const before = made.get(inputSchema);
  if (before !== undefined) return before;
  const whole = completed(inputSchema) as JsonObject;
  const taken = withoutOddNames(withoutChoices(whole));
  const schema = wellFormed(completed(withoutLostRefs(taken, inputSchema, taken))) as ObjectSchema;
  made.set(inputSchema, schema);
  return schema;
}

/**
 * Arguments of the choices become properties of the whole; words describe what the choices require beyond that. A
 * property next to the choices applies to every choice.
 */
function withoutChoices(schema: JsonObject): ObjectSchema {
  const { anyOf, oneOf, allOf, not, enum: values, ...rest } = schema;
  const named = [...argumentsNamedIn(schema, schema)];
  const properties = {
    ...Object.fromEntries(named.map(([name, schemas]) => [name, toAnyOf(schemas)])),
    ...propertiesOf(schema),
  };
  const rule = { anyOf, oneOf, allOf, not, enum: values };
  if (CHOICES.every((keyword) => rule[keyword] === undefined)) return { ...rest, type: 'object', properties };
  const { unevaluatedProperties: _, ...kept } = rest;
  return { ...kept, description: describedWith(rule, schema), type: 'object', properties };
}

/** An argument that is only described in words may still be given, so nothing in the schema may forbid it. */
function withoutOddNames(schema: ObjectSchema): ObjectSchema {
  const named = Object.entries(schema.properties);
  const odd = named.filter(([name]) => !TAKEN_NAME.test(name));
  if (odd.length === 0) return schema;
  const { additionalProperties: _, unevaluatedProperties: __, required, ...rest } = schema;
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const isTaken = (name: unknown): boolean => TAKEN_NAME.test(asText(name));
  const oddlyRequired = names.filter((name) => !isTaken(name));
  const rule = {
    properties: Object.fromEntries(odd),
    ...(oddlyRequired.length > 0 && { required: oddlyRequired }),
  };
  return {
    ...rest,
    description: describedWith(rule, schema),
    ...(required !== undefined && { required: names.filter(isTaken) }),
    properties: Object.fromEntries(named.filter(([name]) => isTaken(name))),
  };
}

/** A reference to a removed part becomes a schema that accepts every value of the same type. */
function withoutLostRefs(schema: unknown, before: JsonObject, now: JsonObject): unknown {
  if (!isJsonObject(schema)) return schema;
  const changed = withEach(schema, (below) => withoutLostRefs(below, before, now));
  const { $ref, ...rest } = changed;
  const target = referredTo($ref, before);
  if (!isJsonObject(target) || referredTo($ref, now) !== undefined) return changed;
  const { type } = target;
  return { ...(type !== undefined && { type }), ...rest };
}

function completed(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const valid = inNewestDialect(schema);
  const types: readonly unknown[] = [valid['type']].flat();
  const lacksItems = types.includes('array') && valid['items'] === undefined;
  const lacksProperties = types.includes('object') && valid['properties'] === undefined;
  return {
    ...withEach(valid, completed),
    ...(lacksItems && { items: {} }),
    ...(lacksProperties && { properties: {} }),
  };
}

/** The schema with each direct subschema changed. */
function withEach(schema: JsonObject, change: (schema: unknown) => unknown): JsonObject {
  const inList = (schemas: unknown): unknown => (Array.isArray(schemas) ? schemas.map(change) : schemas);
  const inNamed = (schemas: unknown): unknown => {
    if (!isJsonObject(schemas)) return schemas;
    return Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, change(each)]));
  };
  return {
    ...schema,
    ...within(schema, HOLDS_A_SCHEMA, change),
    ...within(schema, HOLDS_A_LIST, inList),
    ...within(schema, HOLDS_NAMED_ONES, inNamed),
  };
}

function within(
  schema: JsonObject,
  keywords: readonly string[],
  change: (value: unknown) => unknown,
): JsonObject {
  const present = keywords.filter((keyword) => Object.hasOwn(schema, keyword));
  return Object.fromEntries(present.map((keyword) => [keyword, change(schema[keyword])]));
}

// Converts a schema of an older dialect to JSON Schema 2020-12, by which some providers judge every tool. A keyword is
// dropped if no dialect allows its value, so that the result refuses nothing that the original accepts.
//
// Converts one schema, without its subschemas.

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
