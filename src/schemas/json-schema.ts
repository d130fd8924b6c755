/**
 * Validates against schemas that a server wrote. No part of a schema becomes code, nothing is fetched, and no schema
 * can block the process: a slow validation is stopped when its time is over.
 *
 * J1. The dialect is the one that the schema names: 2020-12, 2019-09, draft-07, draft-06 or draft-04; 2020-12 if it
 *     names none (MCP specification 2025-11-25, "JSON Schema usage").
 * J2. A required property with a default may be missing.
 * J3. `format` is an annotation unless `hasFormats` is true (2020-12, "Vocabularies for Semantic Content").
 */
import { dereference, validate, type Schema } from '@cfworker/json-schema';
import { isJsonObject } from '../json/json-object.js';
import { draftOf } from './plain-schema.js';
import { isDeeperThan } from '../json/parse-json.js';
import { explain, type SchemaProblem, type SchemaTree } from './explain.js';
import { createContext, Script } from 'node:vm';

/** Too short for a person to notice, and enough for tens of thousands of values. */
const LIMIT_MS = 250;
/**
 * Limit of characters of a schema's addresses: more than this, if it refers to itself from very many places, is too
 * large.
 */
const MAX_ADDRESS_CHARACTERS = 1_048_576;
/** Characters of a schema times characters of a value: up to this product, validation takes about 20 ms at most. */
const QUICK = 4_000_000;

/** Keywords with which a short schema can cost much time. */
const SLOW_KEYWORDS = /"(?:\$ref|\$recursiveRef|pattern|patternProperties|uniqueItems|format)"/;

/** Calls of the validator within each other, at most. The stack of a thread holds about twice as many. */
const MAX_CALLS = 256;
const LONGEST_CHAIN = MAX_CALLS / 2;

/**
 * Returns what is wrong with a value, given as JSON text; `too-deep` if the value nests too deeply for the schema. Throws if
 * that cannot be determined for any value.
 */
export type Check = (json: string) => readonly SchemaProblem[] | 'too-deep';

/** Throws if the schema cannot be used. */
export function prepareSchema(text: string, hasFormats: boolean): Check {
  const root = (hasFormats ? JSON.parse(text) : withoutFormats(JSON.parse(text))) as Schema;
  const draft = draftOf(root.$schema);
  if (draft === undefined) throw new Error('its dialect ($schema) is not known');
  const lookup = withinTime(LIMIT_MS, () => dereference(root));
  if (charactersIn(Object.keys(lookup)) > MAX_ADDRESS_CHARACTERS) throw new Error('it is too large');
  const tree: SchemaTree = { root, lookup };
  const mostLevels = Math.floor(MAX_CALLS / longestChain(root, lookup, LONGEST_CHAIN));
  const isSlow = SLOW_KEYWORDS.test(text);
  return (json) => {
    const value: unknown = JSON.parse(json);
    if (isDeeperThan(mostLevels - 1, value)) return 'too-deep';
    const check = (): readonly SchemaProblem[] => {
      const { valid, errors } = validate(value, root, draft, lookup, false);
      return valid ? [] : explain(errors, value, tree);
    };
    return isSlow || text.length * json.length > QUICK ? withinTime(LIMIT_MS, check) : check();
  };
}

/** A copy without `format`. Data in it (`const`, `enum`) stays as it is. */
function withoutFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormats);
  if (!isJsonObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => key !== 'format' || typeof value !== 'string');
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === 'const' || key === 'enum' ? value : withoutFormats(value)]),
  );
}

function charactersIn(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Runs work that may not end, such as a pattern that a server wrote, and stops it when its time is over. Only the
 * platform's own watchdog can do that: no timer runs while the work goes on.
 */
const place: { work?: () => void } = {};
const context = createContext(place);
const script = new Script('work()');

/** A busy machine may not have run the work at all in that time; then it is tried again. */
const MAX_TRIES = 5;

/** The work did not end in time. */
class OutOfTime extends Error {}

/** Throws what the work throws, or an `OutOfTime`. May start the work more than once. Costs about 60 µs. */
function withinTime<T>(limitMs: number, work: () => T): T {
  for (let tries = 1; ; tries += 1) {
    const before = process.cpuUsage();
    try {
      return runWithin(limitMs, work);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const { user, system } = process.cpuUsage(before);
      const hadItsTime = (user + system) / 1_000 > limitMs / 2;
      if (hadItsTime || tries === MAX_TRIES) throw new OutOfTime(`it takes longer than ${limitMs} ms`);
    }
  }
}

function runWithin<T>(limitMs: number, work: () => T): T {
  const done: T[] = [];
  place.work = () => void done.push(work());
  try {
    script.runInContext(context, { timeout: limitMs });
  } finally {
    delete place.work;
  }
  return done[0] as T;
}

/** The error comes from the other context, so it is not an `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

// How many subschemas can judge one and the same value within each other. A validator recurses once for each of them, at every
// level of the value.

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
