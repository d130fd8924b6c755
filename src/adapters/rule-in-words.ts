/**
 * Describes in words the part of a schema that a provider does not accept: the whole schema if that is short, else the
 * names of the arguments in each choice.
 */
import { limitText } from '../results/split-content.js';
import { isJsonObject, type JsonObject, referredTo } from '../json/json-object.js';
import { canonicalJson } from '../json/write-json.js';
import { asText } from '../text/as-text.js';

const MAX_CHARACTERS = 2_000;

const CHOICES = [
  ['anyOf', 'any of'],
  ['oneOf', 'one of'],
  ['allOf', 'all of'],
] as const;

/** The description of `schema`, with a sentence that its arguments must also fit the rule. */
export function describedWith(rule: JsonObject, schema: JsonObject): string {
  const { description } = schema;
  const before = typeof description === 'string' && description !== '' ? `${description} ` : '';
  const whole = JSON.stringify(rule);
  if (whole.length <= MAX_CHARACTERS)
    return `${before}The arguments must also fit this JSON Schema: ${whole}`;
  const short = limitText(inShort(rule, schema), MAX_CHARACTERS, () => ' … ');
  return `${before}The arguments must also fit a JSON Schema that is too long to be shown${short}`;
}

function inShort(rule: JsonObject, root: JsonObject): string {
  const choices = CHOICES.map(([keyword, words]) => ({ words, forms: formsOf(rule[keyword], root) }));
  const telling = choices.filter(({ forms }) => forms.some((names) => names !== ''));
  const about =
    telling.length > 0
      ? telling.map(({ words, forms }) => `${words} (${forms.join('), (')})`).join('; and ')
      : [...argumentsNamedIn(rule, root).keys()].join(', ');
  return about === '' ? '.' : `. These are the arguments that it is about: ${about}`;
}

/** The names in each choice, for as many choices as can be shown. */
function formsOf(choices: unknown, root: JsonObject): string[] {
  const forms: string[] = [];
  let room = MAX_CHARACTERS;
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (room < 0) break;
    const names = namesIn(choice, root);
    forms.push(names);
    room -= names.length + 1;
  }
  return forms;
}

/** Nested choices are left out: visiting them repeatedly would take too long. */
function namesIn(choice: unknown, root: JsonObject): string {
  if (!isJsonObject(choice)) return '';
  const parts = [referredTo(choice['$ref'], root), choice].filter(isJsonObject);
  const properties = parts.flatMap((part) => Object.entries(propertiesOf(part)));
  const required = parts.flatMap((part): unknown[] =>
    Array.isArray(part['required']) ? part['required'] : [],
  );
  const named = new Map([...required.map((name) => [asText(name), undefined] as const), ...properties]);
  return [...named].map(([name, schema]) => name + valueIn(schema)).join(', ');
}

/** The value that distinguishes one choice from another. */
function valueIn(schema: unknown): string {
  const values = valuesOf(schema) ?? [];
  return values.length === 1 ? ` = ${JSON.stringify(values[0])}` : '';
}

// The arguments that a part of a schema names: in its `properties`, in its choices at any depth, and behind local
// references.
//
// N1. If an argument is named in several places, it accepts whatever fits in one of them.
// N2. Each part is visited once, so that a cycle of references or a part with many references costs no more.

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
