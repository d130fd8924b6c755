/**
 * The arguments of a call on the command line: one JSON object, `-` to read one from stdin, or `key=value` pairs.
 * Mistakes in them are reported before any server starts.
 */
import { text } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, referredTo } from '../../json/json-object.js';
import { parseJson } from '../../json/parse-json.js';
import { UsageError } from '../exit.js';
import { isDeepStrictEqual } from 'node:util';

export type GivenArguments =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'pairs'; readonly pairs: ReadonlyMap<string, string> };

/** A key cannot begin like JSON that could hold a `=`. */
const PAIR = /^([^\s{["=][^=]*)=(.*)$/s;

/** Throws a `UsageError`. Its message never holds a value. */
export async function readArguments(
  words: readonly string[],
  stdin: NodeJS.ReadableStream,
): Promise<GivenArguments> {
  const [first] = words;
  if (words.length === 1 && first === '-')
    return { kind: 'json', value: await parseObject(await text(stdin), 'stdin') };
  if (words.length === 1 && first !== undefined && !PAIR.test(first)) {
    return { kind: 'json', value: await parseObject(first, 'ARGS') };
  }
  const pairs = new Map<string, string>();
  for (const word of words) {
    const [, key, value] = PAIR.exec(word) ?? [];
    if (key === undefined || value === undefined)
      throw new UsageError('ARGS is one JSON object, -, or key=value pairs');
    if (pairs.has(key)) throw new UsageError(`'${key}' is given twice`);
    pairs.set(key, value);
  }
  return { kind: 'pairs', pairs };
}

/**
 * The arguments to send. The tool's schema decides the type of a value; if it does not say, the form of the value
 * decides. Throws a `UsageError` if the schema wants a number that cannot be sent exactly.
 */
export function toArguments(given: GivenArguments, schema: JsonObject): JsonObject {
  if (given.kind === 'json') return given.value;
  const { properties } = schema;
  const schemas = isJsonObject(properties) ? properties : {};
  return Object.fromEntries(
    [...given.pairs].map(([key, text]) => [key, toValue(key, text, wantedValues(schemas[key], schema))]),
  );
}

async function parseObject(source: string, where: string): Promise<JsonObject> {
  const value = parseJson(source);
  if (value === undefined) throw new UsageError(`${where} ${await whyNoJson(source)}`);
  if (!isJsonObject(value)) {
    throw new UsageError(`${where} must be a JSON object`);
  }
  if (!hasExactNumbers(source)) throw inexact(where);
  return value;
}

/** Names the place of the mistake, if the text is meant as JSON. */
async function whyNoJson(source: string): Promise<string> {
  if (!/^\s*[[{"]/.test(source)) return 'is neither JSON nor key=value pairs';
  const { readJsonText } = await import('../../config/files/json-text.js');
  const parsed = readJsonText(source);
  if (parsed.kind !== 'broken')
    return 'is not JSON: it has no comments, and no comma before a closing bracket';
  return `is not JSON: line ${parsed.line}, column ${parsed.column}: ${parsed.message}`;
}

function toValue(key: string, text: string, wanted: WantedValues): unknown {
  const value = parseJson(text);
  // A list, an object or null that the schema allows means that value, not its text.
  const isMeant = typeof value === 'object' && wanted.includes(value);
  if (!isMeant && wanted.includes(text)) return text;
  if (value === undefined || typeof value === 'string') return text;
  if (wanted.areTexts && !wanted.includes(value)) return text;
  if (hasExactNumbers(text)) return value;
  if (typeof value === 'number' && !wanted.isKnown) return text;
  throw inexact(`'${key}'`);
}

function inexact(where: string): UsageError {
  return new UsageError(
    `${where} holds a number that cannot be sent exactly; if the tool takes a string, give it as a JSON string`,
  );
}

// Finds numbers that JavaScript cannot keep as written: integers with too many digits, and numbers that are too large.
// Rounded digits of a fraction do not count: everybody expects them.

/**
 * Strings, and numbers outside of them. A pattern that matches a long string piece by piece would need a stack as long.
 */
const TOKENS = /"[^"]*"|-?\d[\d.eE+-]*/g;
const ESCAPED = /\\./g;

/** Whether a valid JSON text holds only numbers that JavaScript keeps exactly. */
function hasExactNumbers(json: string): boolean {
  for (const [token] of json.replace(ESCAPED, '').matchAll(TOKENS)) {
    if (!token.startsWith('"') && !isExact(token)) return false;
  }
  return true;
}

function isExact(literal: string): boolean {
  const value = Number(literal);
  if (/[.eE]/.test(literal)) return Number.isFinite(value);
  return Number.isSafeInteger(value) || String(value) === literal;
}

/**
 * The restriction of an argument's value by its schema, as far as `type`, `enum` and `const` express it: directly, in
 * choices (`anyOf`, `oneOf`, `allOf`), and behind local references. It does not validate a value; the server does.
 */
interface WantedValues {
  /** Whether the schema restricts the value at all. */
  readonly isKnown: boolean;
  /** Whether the schema wants a string of some kind. */
  readonly areTexts: boolean;
  /** Whether the value is one of the listed values, or of a named type. */
  includes(value: unknown): boolean;
}

/** `root` is the schema that local references point into. What `allOf` asks for applies in addition to the rest. */
function wantedValues(schema: unknown, root: JsonObject): WantedValues {
  const { allOf, ...rest } = isJsonObject(schema) ? schema : {};
  const parts = [rest, allOf].flat().map((part) => wantedByAny(part, root));
  const known = parts.filter(({ isKnown }) => isKnown);
  const isKnown = known.length > 0;
  return {
    isKnown,
    areTexts: isKnown && known.every(({ areTexts }) => areTexts),
    includes: (value) => isKnown && known.every((part) => part.includes(value)),
  };
}

/** The values that any of its choices accepts. */
function wantedByAny(schema: unknown, root: JsonObject): WantedValues {
  const hints = [...alternativesOf(schema, root)].map(sayingOf);
  return {
    isKnown: hints.some(({ values, types }) => values !== undefined || types.length > 0),
    areTexts: hints.some(
      ({ values = [], types }) =>
        types.includes('string') || values.some((value) => typeof value === 'string'),
    ),
    includes: (value) =>
      hints.some(({ values, types }) =>
        values === undefined
          ? typesOf(value).some((type) => types.includes(type))
          : values.some((one) => isDeepStrictEqual(one, value)),
      ),
  };
}

/** Each alternative once, so that a cycle of references ends. */
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
  /** The only allowed values. If they are listed, the types add nothing. */
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
