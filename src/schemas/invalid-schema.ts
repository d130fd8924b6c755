/**
 * Finds what is wrong with a schema of a server, before a validator or a model provider fails on it: a provider refuses a whole
 * request for one such schema.
 */
import { isJsonObject, type JsonObject, pointerToken, referredTo } from '../json/json-object.js';
import { quoted } from '../text/server-text.js';

// Finds a keyword of a JSON Schema with a value that no dialect allows, before a validator or a model provider fails on
// it: a provider refuses a whole request for one such schema.
//
// Checks the keywords that determine the structure of a value. Keywords that only narrow it and unknown keywords are
// not checked; values that are data and not schemas (`const`, `default`, the members of `enum`) are not searched.

const TYPES: ReadonlySet<unknown> = new Set([
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
]);

/** What a keyword holds (JSON Schema 2020-12, sections 10 and 6.1, and the matching sections of older dialects). */
type Holding = 'type' | 'names' | 'list' | 'schema' | 'schemas' | 'schema or schemas' | 'named schemas';

const HOLD_NO_SCHEMA: ReadonlySet<Holding> = new Set(['type', 'names', 'list']);

const HOLDINGS: readonly (readonly [holding: Holding, keywords: string])[] = [
  ['type', 'type'],
  ['names', 'required'],
  ['list', 'enum'],
  ['named schemas', 'properties patternProperties dependentSchemas $defs definitions'],
  ['schemas', 'allOf anyOf oneOf prefixItems'],
  ['schema or schemas', 'items'],
  ['schema', 'additionalItems additionalProperties unevaluatedItems unevaluatedProperties'],
  ['schema', 'contains propertyNames not if then else'],
];

const KEYWORDS: ReadonlyMap<string, Holding> = new Map(
  HOLDINGS.flatMap(([holding, keywords]) => keywords.split(' ').map((keyword) => [keyword, holding])),
);

/** A flaw, and the JSON Pointer (RFC 6901) of the schema that has it. */
interface Flaw {
  readonly what: string;
  readonly at: string;
}

/**
 * What is wrong and where, continuing "the schema"; undefined if nothing is. The schema must be acyclic and of bounded
 * depth.
 */
export function findInvalidKeyword(schema: JsonObject): string | undefined {
  const flaw = flawIn(schema);
  if (flaw === undefined) return undefined;
  return flaw.at === '' ? `has ${flaw.what}` : `has ${flaw.what}, at ${quoted(`#${flaw.at}`)}`;
}

function flawIn(schema: JsonObject): Flaw | undefined {
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const holding = KEYWORDS.get(keyword);
    if (holding === undefined || value === undefined) continue;
    const what = flawOf(holding, keyword, value);
    if (what !== undefined) return { what, at: '' };
    const below = HOLD_NO_SCHEMA.has(holding) ? undefined : flawBelow(holding, value);
    if (below !== undefined) return { what: below.what, at: `/${keyword}${below.at}` };
  }
  return undefined;
}

/** The first flaw in the schema or schemas that a keyword holds. */
function flawBelow(holding: Holding, value: unknown): Flaw | undefined {
  if (holding !== 'named schemas' && isJsonObject(value)) return flawIn(value);
  for (const [step, each] of Object.entries(value as object)) {
    const flaw = isJsonObject(each) ? flawIn(each) : undefined;
    if (flaw !== undefined) return { what: flaw.what, at: `/${pointerToken(step)}${flaw.at}` };
  }
  return undefined;
}

function flawOf(holding: Holding, keyword: string, value: unknown): string | undefined {
  switch (holding) {
    case 'type':
      return isType(value) ? undefined : `an invalid "${keyword}"`;
    case 'list':
      return Array.isArray(value) ? undefined : `a "${keyword}" that is not a list`;
    case 'names':
      if (!Array.isArray(value)) return `a "${keyword}" that is not a list`;
      return value.every((name) => typeof name === 'string')
        ? undefined
        : `a "${keyword}" that is not a list of names`;
    case 'named schemas':
      if (!isJsonObject(value)) return `"${keyword}" that are not an object`;
      return Object.values(value).every(isSchema) ? undefined : `"${keyword}" that are not schemas`;
    case 'schemas':
      return isSchemas(value) ? undefined : `a "${keyword}" that is not a list of schemas`;
    case 'schema':
      return isSchema(value) ? undefined : `a "${keyword}" that is not a schema`;
    case 'schema or schemas':
      return isSchema(value) || isSchemas(value) ? undefined : `a "${keyword}" that is not a schema`;
  }
}

function isType(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 && value.every((each) => TYPES.has(each)) : TYPES.has(value);
}

function isSchema(value: unknown): boolean {
  return isJsonObject(value) || typeof value === 'boolean';
}

function isSchemas(value: unknown): boolean {
  return Array.isArray(value) && value.every(isSchema);
}

// Finds a reference in a JSON Schema that points nowhere, before a validator or a model provider fails on it.
//
// Owns local JSON pointers (`#/…`, RFC 6901 in a URI fragment) only. Anchors and references to other documents are not
// checked. Values that are data and not schemas (`const`, `enum`, `default`, `examples`) are not searched; a subschema
// with its own `$id` is the root of the pointers below it (JSON Schema 2020-12, section 8.2.1).

const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** Keywords whose members are schemas under free names, which must not be taken for keywords. */
const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

function isResolvable(reference: string, root: JsonObject): boolean {
  const target = referredTo(reference, root);
  return isJsonObject(target) || typeof target === 'boolean';
}

function hasOwnBase(schema: JsonObject): boolean {
  return typeof schema['$id'] === 'string' && !schema['$id'].startsWith('#');
}

function searchIn(value: unknown, root: JsonObject): string | undefined {
  if (Array.isArray(value)) return searchAll(value, root);
  if (!isJsonObject(value)) return undefined;
  const base = hasOwnBase(value) ? value : root;
  const ref = value['$ref'];
  if (typeof ref === 'string' && ref.startsWith('#/') && !isResolvable(ref, base)) return ref;
  for (const keyword of Object.keys(value)) {
    const below = value[keyword];
    if (typeof below !== 'object' || below === null || DATA_KEYWORDS.has(keyword)) continue;
    const areNamed = MAP_KEYWORDS.has(keyword) && !Array.isArray(below);
    const found = areNamed ? searchAll(Object.values(below), base) : searchIn(below, base);
    if (found !== undefined) return found;
  }
  return undefined;
}

function searchAll(values: readonly unknown[], root: JsonObject): string | undefined {
  for (const value of values) {
    const found = searchIn(value, root);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first local reference that does not resolve to a schema. The schema is acyclic and of bounded depth. */
export function findDanglingRef(schema: JsonObject): string | undefined {
  return searchIn(schema, schema);
}
