/**
 * Finds a reference in a JSON Schema that points nowhere, before a validator or a model provider fails on it.
 *
 * Owns local JSON pointers (`#/…`, RFC 6901 in a URI fragment) only. Anchors and references to other documents are not
 * checked. Values that are data and not schemas (`const`, `enum`, `default`, `examples`) are not searched; a subschema
 * with its own `$id` is the root of the pointers below it (JSON Schema 2020-12, section 8.2.1).
 */
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { referredTo } from '../json/local-reference.js';

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
