/**
 * The arguments that a part of a schema names: in its own `properties`, in those of its choices, however deep these lie in
 * one another, and behind local references.
 *
 * N1. An argument that is named in several places takes what it may be in any of them.
 * N2. Every part is looked at once, so that neither a cycle of references nor one part that all others refer to costs more.
 */
import { canonicalJson } from '../canonical-json.js';
import { isJsonObject, type JsonObject } from '../catalog/json-object.js';
import { referredTo } from '../catalog/local-reference.js';

/** By name, the schemas of which an argument fits one. */
export type NamedArguments = ReadonlyMap<string, ReadonlySet<unknown>>;

/** `root` is what local references are about. */
export function argumentsNamedIn(part: unknown, root: JsonObject): NamedArguments {
  const named = new Map<string, Set<unknown>>();
  const parts = new Set([part]);
  for (const each of parts) {
    if (!isJsonObject(each)) continue;
    for (const [name, schema] of Object.entries(propertiesOf(each))) {
      const schemas = named.get(name);
      if (schemas === undefined) named.set(name, new Set([schema]));
      else schemas.add(schema);
    }
    for (const choice of choicesOf(each, root)) parts.add(choice);
  }
  return named;
}

export function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

/** One schema for what fits any of them. */
export function anyOfThem(schemas: ReadonlySet<unknown>): unknown {
  const possible = distinct(schemas).filter((schema) => schema !== false);
  if (possible.includes(true)) return true;
  if (possible.length < 2) return possible[0] ?? false;
  return asOneEnum(possible) ?? { anyOf: possible };
}

/** The values that a schema lists, where they are plain ones. */
export function valuesOf(schema: unknown): readonly unknown[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const values = Object.hasOwn(schema, 'const') ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values)) return undefined;
  return values.every((value) => typeof value !== 'object' || value === null) ? values : undefined;
}

function choicesOf({ $ref, anyOf, oneOf, allOf }: JsonObject, root: JsonObject): unknown[] {
  return [referredTo($ref, root), anyOf, oneOf, allOf].flat();
}

/** Only where nothing but the values (and their type) tells the schemas apart. */
function asOneEnum(schemas: readonly unknown[]): JsonObject | undefined {
  const lists = schemas.map(valuesOf);
  const rests = distinct(schemas.map(withoutValues));
  if (lists.includes(undefined) || rests.length > 1) return undefined;
  const types = distinct(schemas.map((schema) => (schema as JsonObject)['type']));
  const [type] = types.length === 1 ? types : [];
  return {
    ...(type !== undefined && { type }),
    ...(rests[0] as JsonObject),
    enum: [...new Set(lists.flat())],
  };
}

function withoutValues(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { const: _, enum: __, type: ___, ...rest } = schema;
  return rest;
}

function distinct(values: Iterable<unknown>): unknown[] {
  return [...new Map(Array.from(values, (value) => [canonicalJson(value), value])).values()];
}
