/**
 * The input schema of a tool as every model provider takes it. Providers refuse a whole request for one schema that they
 * do not like, so that one tool would take all the others with it.
 *
 * J1. Nothing but what providers are known to refuse is changed: a choice (`anyOf` and the like) at the top, objects
 *     without `properties`, arrays without `items`, names of arguments that are not `[a-zA-Z0-9_.-]{1,64}`.
 * J2. A model is offered at least what the tool takes. Arguments are checked against the tool's own schema all the same.
 */
import { isJsonObject, type JsonObject } from '../catalog/json-object.js';
import type { CatalogTool } from '../catalog/registry.js';

export interface ObjectSchema {
  [keyword: string]: unknown;
  type: 'object';
  properties: Record<string, unknown>;
}

/** Refused at the top of a schema. */
const CHOICES = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'] as const;
const HOLDS_A_SCHEMA = [
  'items',
  'additionalProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
];
const HOLDS_A_LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const HOLDS_NAMED_ONES = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
/** Of an argument, at the top of a schema. */
const TAKEN_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Of what becomes words. */
const MOST_CHARACTERS = 2_000;

const made = new WeakMap<object, ObjectSchema>();

/** The same object for the same schema. The schema is acyclic and of bounded depth (see `tool-check.ts`). */
export function schemaForModels({ inputSchema }: CatalogTool): ObjectSchema {
  const before = made.get(inputSchema);
  if (before !== undefined) return before;
  const schema = withoutOddNames(withoutChoices(completed(inputSchema) as JsonObject));
  made.set(inputSchema, schema);
  return schema;
}

/** Properties of the choices become properties of the whole; what they ask for beyond that is said in words. */
function withoutChoices(schema: JsonObject): ObjectSchema {
  const { anyOf, oneOf, allOf, not, enum: values, ...rest } = schema;
  const choices = [anyOf, oneOf, allOf].flat().map((choice) => resolved(choice, schema));
  const properties = Object.fromEntries([...choices, schema].map(propertiesOf).flatMap(Object.entries));
  const dropped = { anyOf, oneOf, allOf, not, enum: values };
  const isChanged = CHOICES.some((keyword) => dropped[keyword] !== undefined);
  const description = isChanged ? described(schema, JSON.stringify(dropped)) : undefined;
  return { ...rest, ...(description !== undefined && { description }), type: 'object', properties };
}

/** What is said in words of an argument may be given all the same, so that nothing may forbid it. */
function withoutOddNames(schema: ObjectSchema): ObjectSchema {
  const named = Object.entries(schema.properties);
  const odd = named.filter(([name]) => !TAKEN_NAME.test(name));
  if (odd.length === 0) return schema;
  const { additionalProperties: _, unevaluatedProperties: __, required, ...rest } = schema;
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const isTaken = (name: unknown): boolean => TAKEN_NAME.test(String(name));
  const oddlyRequired = names.filter((name) => !isTaken(name));
  const rule = {
    properties: Object.fromEntries(odd),
    ...(oddlyRequired.length > 0 && { required: oddlyRequired }),
  };
  const description = described(schema, JSON.stringify(rule));
  return {
    ...rest,
    ...(description !== undefined && { description }),
    ...(required !== undefined && { required: names.filter(isTaken) }),
    properties: Object.fromEntries(named.filter(([name]) => isTaken(name))),
  };
}

function described({ description }: JsonObject, rule: string): string | undefined {
  const before = typeof description === 'string' ? description : undefined;
  if (rule.length > MOST_CHARACTERS) return before;
  return `${before === undefined ? '' : `${before} `}The arguments must also fit this JSON Schema: ${rule}`;
}

function propertiesOf(schema: unknown): JsonObject {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  return isJsonObject(properties) ? properties : {};
}

/** Follows a reference to a definition of the schema itself. */
function resolved(choice: unknown, { $defs, definitions }: JsonObject): unknown {
  const reference = isJsonObject(choice) ? choice['$ref'] : undefined;
  const [, name] = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String(reference)) ?? [];
  if (name === undefined) return choice;
  const named = [$defs, definitions].find((each) => isJsonObject(each) && Object.hasOwn(each, name));
  return isJsonObject(named) ? named[name] : choice;
}

function completed(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { type } = schema;
  const lacksItems = type === 'array' && schema['items'] === undefined && schema['prefixItems'] === undefined;
  const lacksProperties = type === 'object' && schema['properties'] === undefined;
  return {
    ...schema,
    ...(lacksItems && { items: {} }),
    ...(lacksProperties && { properties: {} }),
    ...within(schema, HOLDS_A_SCHEMA, completed),
    ...within(schema, HOLDS_A_LIST, eachCompleted),
    ...within(schema, HOLDS_NAMED_ONES, namedCompleted),
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

function eachCompleted(schemas: unknown): unknown {
  return Array.isArray(schemas) ? schemas.map(completed) : schemas;
}

function namedCompleted(schemas: unknown): unknown {
  if (!isJsonObject(schemas)) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, completed(schema)]));
}
