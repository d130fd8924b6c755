/**
 * What the schema of one argument says about its value, so far as it says it by `type`, `enum` and `const`: in itself, in
 * its choices (`anyOf`, `oneOf`, `allOf`), and behind local references. Judges no value: that is for the server.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../catalog/json-object.js';
import { referredTo } from '../catalog/local-reference.js';

export interface WantedValues {
  /** Whether it says anything. */
  readonly isTold: boolean;
  /** Whether a text of some kind is wanted. */
  readonly areTexts: boolean;
  /** Whether it is one of the values that are listed, or of a type that is named. */
  includes(value: unknown): boolean;
}

/** `root` is what local references are about. What `allOf` asks for comes on top of the rest. */
export function wantedValues(schema: unknown, root: JsonObject): WantedValues {
  const { allOf, ...rest } = isJsonObject(schema) ? schema : {};
  const parts = [rest, allOf].flat().map((part) => wantedByAny(part, root));
  const telling = parts.filter(({ isTold }) => isTold);
  const isTold = telling.length > 0;
  return {
    isTold,
    areTexts: isTold && telling.every(({ areTexts }) => areTexts),
    includes: (value) => isTold && telling.every((part) => part.includes(value)),
  };
}

/** By any of the choices that it has. */
function wantedByAny(schema: unknown, root: JsonObject): WantedValues {
  const told = [...alternativesOf(schema, root)].map(sayingOf);
  return {
    isTold: told.some(({ values, types }) => values !== undefined || types.length > 0),
    areTexts: told.some(
      ({ values = [], types }) =>
        types.includes('string') || values.some((value) => typeof value === 'string'),
    ),
    includes: (value) =>
      told.some(({ values, types }) =>
        values === undefined
          ? typesOf(value).some((type) => types.includes(type))
          : values.some((one) => isDeepStrictEqual(one, value)),
      ),
  };
}

/** Each of them once, so that a cycle of references ends. */
function alternativesOf(schema: unknown, root: JsonObject): ReadonlySet<JsonObject> {
  const found = new Set([schema].filter(isJsonObject));
  for (const { $ref, anyOf, oneOf, allOf } of found) {
    for (const each of [referredTo($ref, root), anyOf, oneOf, allOf].flat()) {
      if (isJsonObject(each)) found.add(each);
    }
  }
  return found;
}

interface Saying {
  /** The only ones, where they are listed; the type says no more then. */
  readonly values?: readonly unknown[];
  readonly types: readonly unknown[];
}

function sayingOf(schema: JsonObject): Saying {
  const types = [schema['type']].flat().filter((type) => typeof type === 'string');
  if (Object.hasOwn(schema, 'const')) return { values: [schema['const']], types };
  const values = schema['enum'];
  return Array.isArray(values) ? { values, types } : { types };
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value !== 'number') return [typeof value];
  return Number.isInteger(value) ? ['number', 'integer'] : ['number'];
}
