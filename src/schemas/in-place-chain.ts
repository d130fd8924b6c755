/**
 * How many subschemas can judge one and the same value within each other. A validator recurses once for each of them, at every
 * level of the value.
 */
import type { Schema } from '@cfworker/json-schema';
import { isJsonObject } from '../json/json-object.js';

type Lookup = Readonly<Record<string, Schema | boolean | undefined>>;

/** Keywords with a list, and with names, of schemas for the value itself. */
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SINGLE = ['not', 'if', 'then', 'else'] as const;
const NAMED = ['dependentSchemas', 'dependencies'] as const;

/**
 * The longest chain in a schema: 1 if none of its subschemas refers to another for the same value.
 *
 * @param lookup All subschemas by their addresses, as the validator gives them.
 * @throws `Error` if a subschema leads to itself without a step into the value, or if a chain is longer than `most`.
 */
export function longestChain(root: Schema, lookup: Lookup, most: number): number {
  const known = new Map<unknown, number>();
  const below = (schema: unknown, depth: number): number => {
    if (!isJsonObject(schema)) return 0;
    const length = known.get(schema);
    if (length !== undefined) return length;
    if (depth > most)
      throw new Error(`it refers to itself without end, or through more than ${most} schemas`);
    const longest = 1 + Math.max(0, ...inPlace(schema, root, lookup).map((next) => below(next, depth + 1)));
    known.set(schema, longest);
    return longest;
  };
  return Math.max(1, ...[root, ...Object.values(lookup)].map((schema) => below(schema, 1)));
}

/** The subschemas that a schema applies to the same value. */
function inPlace(schema: Schema, root: Schema, lookup: Lookup): readonly unknown[] {
  const { $ref, $recursiveRef, __absolute_ref__, __absolute_recursive_ref__ } = schema;
  return [
    ...(typeof $ref === 'string' ? [lookup[__absolute_ref__ ?? $ref]] : []),
    ...($recursiveRef === '#' ? [root, lookup[__absolute_recursive_ref__ ?? '']] : []),
    ...SINGLE.map((keyword) => schema[keyword] as unknown),
    ...LISTS.flatMap((keyword) => (schema[keyword] ?? []) as unknown),
    ...NAMED.flatMap((keyword) => Object.values((schema[keyword] ?? {}) as object) as unknown[]),
  ];
}
