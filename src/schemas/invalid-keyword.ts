/**
 * Finds a keyword of a JSON Schema with a value that no dialect allows, before a validator or a model provider fails on
 * it: a provider refuses a whole request for one such schema.
 *
 * Checks the keywords that determine the structure of a value. Keywords that only narrow it and unknown keywords are
 * not checked; values that are data and not schemas (`const`, `default`, the members of `enum`) are not searched.
 */
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { pointerToken } from '../json/local-reference.js';
import { quoted } from '../text/server-text.js';

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
