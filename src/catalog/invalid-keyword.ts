/**
 * Finds a keyword of a JSON Schema that is as no dialect allows it, before a validator or a model provider trips over
 * it: a provider refuses a whole request for one such schema.
 *
 * Owns the keywords that shape a value. Those that only narrow it, and those that nobody knows, are left alone; values
 * that are data and not schemas (`const`, `default`, the members of `enum`) are not searched.
 */
import { isJsonObject, type JsonObject } from './json-object.js';
import { quoted } from './quoted.js';

const TYPES: ReadonlySet<unknown> = new Set([
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
]);

/** What a keyword holds (JSON Schema 2020-12, sections 10 and 6.1, and their like in the dialects before). */
type Holding = 'type' | 'names' | 'list' | 'schema' | 'schemas' | 'schema or schemas' | 'named schemas';

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

/** What is wrong and where, continuing "the schema"; undefined where nothing is. It is acyclic and of bounded depth. */
export function findInvalidKeyword(schema: JsonObject, at = ''): string | undefined {
  for (const [keyword, value] of Object.entries(schema)) {
    const holding = KEYWORDS.get(keyword);
    if (holding === undefined || value === undefined) continue;
    const flaw = flawOf(holding, keyword, value);
    if (flaw !== undefined) return at === '' ? `has ${flaw}` : `has ${flaw}, at ${quoted(`#${at}`)}`;
    for (const [step, below] of subschemas(holding, value)) {
      if (!isJsonObject(below)) continue;
      const found = findInvalidKeyword(below, `${at}/${keyword}${step}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function flawOf(holding: Holding, keyword: string, value: unknown): string | undefined {
  switch (holding) {
    case 'type':
      return isType(value) ? undefined : `a "${keyword}" that is none`;
    case 'list':
      return Array.isArray(value) ? undefined : `a "${keyword}" that is not a list`;
    case 'names':
      if (!Array.isArray(value)) return `a "${keyword}" that is not a list`;
      return value.every((name) => typeof name === 'string')
        ? undefined
        : `a "${keyword}" that is no list of names`;
    case 'named schemas':
      if (!isJsonObject(value)) return `"${keyword}" that are not an object`;
      return Object.values(value).every(isSchema) ? undefined : `"${keyword}" that are no schemas`;
    case 'schemas':
      return isSchemas(value) ? undefined : `a "${keyword}" that is no list of schemas`;
    case 'schema':
      return isSchema(value) ? undefined : `a "${keyword}" that is no schema`;
    case 'schema or schemas':
      return isSchema(value) || isSchemas(value) ? undefined : `a "${keyword}" that is no schema`;
  }
}

/** Each with the rest of the way to it (JSON Pointer, RFC 6901). */
function subschemas(holding: Holding, value: unknown): readonly (readonly [step: string, schema: unknown])[] {
  if (holding === 'type' || holding === 'names' || holding === 'list') return [];
  if (Array.isArray(value)) return value.map((each: unknown, index) => [`/${index}`, each]);
  if (holding !== 'named schemas') return [['', value]];
  return Object.entries(value as JsonObject).map(([name, each]) => [`/${escaped(name)}`, each]);
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

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
