/**
 * The arguments that a part of a schema names: in its `properties`, in its choices at any depth, and behind local
 * references.
 *
 * N1. If an argument is named in several places, it accepts whatever fits in one of them.
 * N2. Each part is visited once, so that a cycle of references or a part with many references costs no more.
 */
import { canonicalJson } from '../json/canonical-json.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { referredTo } from '../json/local-reference.js';

/** By name of the argument, its schemas; a value fits if it fits one of them. */
export type NamedArguments = ReadonlyMap<string, ReadonlySet<unknown>>;

/** `root`: the schema in which local references resolve. */
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

/** One schema that accepts whatever fits one of them. */
export function toAnyOf(schemas: ReadonlySet<unknown>): unknown {
  const possible = distinct(schemas).filter((schema) => schema !== false);
  if (possible.includes(true)) return true;
  if (possible.length < 2) return possible[0] ?? false;
  return asOneEnum(possible) ?? { anyOf: possible };
}

/** The values that a schema lists, if all are plain. */
export function valuesOf(schema: unknown): readonly unknown[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const values = Object.hasOwn(schema, 'const') ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values)) return undefined;
  return values.every((value) => typeof value !== 'object' || value === null) ? values : undefined;
}

function choicesOf({ $ref, anyOf, oneOf, allOf }: JsonObject, root: JsonObject): unknown[] {
  return [referredTo($ref, root), anyOf, oneOf, allOf].flat();
}

/** Undefined unless the schemas differ only in their values (and the type of these). */
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
