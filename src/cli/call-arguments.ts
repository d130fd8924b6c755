/**
 * The arguments of a call as they stand on the command line: one JSON object, `-` for one on stdin, or `key=value`
 * pairs. What is wrong with them is told before any server is started.
 */
import { text } from 'node:stream/consumers';
import type { JsonObject } from '../protocol/protocol-client.js';
import { UsageError } from './usage-error.js';

export type GivenArguments =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'pairs'; readonly pairs: ReadonlyMap<string, string> };

/** Throws a `UsageError`, whose message never holds a value. */
export async function readArguments(
  words: readonly string[],
  stdin: NodeJS.ReadableStream,
): Promise<GivenArguments> {
  const [first] = words;
  if (words.length === 1 && first === '-')
    return { kind: 'json', value: parseObject(await text(stdin), 'stdin') };
  if (words.length === 1 && first !== undefined && !/^[^\s{["]+=/.test(first)) {
    return { kind: 'json', value: parseObject(first, 'ARGS') };
  }
  const pairs = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf('=');
    if (at < 1) throw new UsageError('ARGS is one JSON object, -, or key=value pairs');
    const key = word.slice(0, at);
    if (pairs.has(key)) throw new UsageError(`'${key}' is given twice`);
    pairs.set(key, word.slice(at + 1));
  }
  return { kind: 'pairs', pairs };
}

/** What is sent. The tool's schema decides what a value is; where it does not say, the value's own form does. */
export function toArguments(given: GivenArguments, schema: JsonObject): JsonObject {
  if (given.kind === 'json') return given.value;
  const properties = asObject(schema['properties']);
  return Object.fromEntries(
    [...given.pairs].map(([key, value]) => [key, toValue(value, typesOf(properties[key]))]),
  );
}

function parseObject(source: string, where: string): JsonObject {
  const value = parseJson(source);
  if (value === undefined) {
    throw new UsageError(`${where} is neither JSON nor key=value pairs`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${where} must be a JSON object`);
  }
  return value as JsonObject;
}

function toValue(text: string, types: readonly string[]): unknown {
  if (types.includes('string')) return text;
  const value = parseJson(text);
  if (value === undefined || typeof value === 'string') return text;
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && types.length === 0 ? text : value;
}

function typesOf(property: unknown): readonly string[] {
  const { type } = asObject(property);
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.filter((one) => typeof one === 'string') : [];
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

/** Undefined where the text is no JSON. */
function parseJson(source: string): unknown {
  try {
    return JSON.parse(source) as unknown;
  } catch {
    return undefined;
  }
}
