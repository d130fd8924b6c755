/**
 * Describes in words the part of a schema that a provider does not accept: the whole schema if that is short, else the
 * names of the arguments in each choice.
 */
import { limitText } from '../results/limit-text.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { referredTo } from '../json/local-reference.js';
import { argumentsNamedIn, propertiesOf, valuesOf } from './named-arguments.js';
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
