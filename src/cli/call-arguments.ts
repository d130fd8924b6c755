/**
 * The arguments of a call as they stand on the command line: one JSON object, `-` for one on stdin, or `key=value`
 * pairs. What is wrong with them is told before any server is started.
 */
import { text } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '../catalog/json-object.js';
import { parseJson } from '../parse-json.js';
import { hasExactNumbers } from './exact-numbers.js';
import { UsageError } from './usage-error.js';
import { wantedValues, type WantedValues } from './wanted-values.js';

export type GivenArguments =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'pairs'; readonly pairs: ReadonlyMap<string, string> };

/** A key begins as no JSON does that could hold a `=`. */
const PAIR = /^([^\s{["=][^=]*)=(.*)$/s;

/** Throws a `UsageError`, whose message never holds a value. */
export async function readArguments(
  words: readonly string[],
  stdin: NodeJS.ReadableStream,
): Promise<GivenArguments> {
  const [first] = words;
  if (words.length === 1 && first === '-')
    return { kind: 'json', value: parseObject(await text(stdin), 'stdin') };
  if (words.length === 1 && first !== undefined && !PAIR.test(first)) {
    return { kind: 'json', value: parseObject(first, 'ARGS') };
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
 * What is sent. The tool's schema decides what a value is; where it does not say, the value's own form does. Throws a
 * `UsageError` where the schema wants a number that cannot be sent as it was written.
 */
export function toArguments(given: GivenArguments, schema: JsonObject): JsonObject {
  if (given.kind === 'json') return given.value;
  const { properties } = schema;
  const schemas = isJsonObject(properties) ? properties : {};
  return Object.fromEntries(
    [...given.pairs].map(([key, text]) => [key, toValue(key, text, wantedValues(schemas[key], schema))]),
  );
}

function parseObject(source: string, where: string): JsonObject {
  const value = parseJson(source);
  if (value === undefined) {
    throw new UsageError(`${where} is neither JSON nor key=value pairs`);
  }
  if (!isJsonObject(value)) {
    throw new UsageError(`${where} must be a JSON object`);
  }
  if (!hasExactNumbers(source)) throw inexact(where);
  return value;
}

function toValue(key: string, text: string, wanted: WantedValues): unknown {
  const value = parseJson(text);
  // Who writes a list, an object or null, and may, means that and not its text.
  const isMeant = typeof value === 'object' && wanted.includes(value);
  if (!isMeant && wanted.includes(text)) return text;
  if (value === undefined || typeof value === 'string') return text;
  if (wanted.areTexts && !wanted.includes(value)) return text;
  if (hasExactNumbers(text)) return value;
  if (typeof value === 'number' && !wanted.isTold) return text;
  throw inexact(`'${key}'`);
}

function inexact(where: string): UsageError {
  return new UsageError(
    `${where} holds a number that cannot be sent exactly; where the tool takes a string, give it as a JSON string`,
  );
}
