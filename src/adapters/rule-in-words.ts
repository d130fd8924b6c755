/**
 * What a schema asks for beyond what a provider takes, in the words of its description: whole where that is short, else
 * the names of the arguments that each choice is about.
 */
import { limitText } from '../calls/result/limit.js';
import { isJsonObject, type JsonObject } from '../catalog/json-object.js';
import { referredTo } from '../catalog/local-reference.js';
import { argumentsNamedIn, propertiesOf, valuesOf } from './named-arguments.js';

const MOST_CHARACTERS = 2_000;

const CHOICES = [
  ['anyOf', 'any of'],
  ['oneOf', 'one of'],
  ['allOf', 'all of'],
] as const;

/** The description of `schema`, and that its arguments must fit the rule as well. */
export function describedWith(rule: JsonObject, schema: JsonObject): string {
  const { description } = schema;
  const before = typeof description === 'string' && description !== '' ? `${description} ` : '';
  const whole = JSON.stringify(rule);
  if (whole.length <= MOST_CHARACTERS)
    return `${before}The arguments must also fit this JSON Schema: ${whole}`;
  const short = limitText(inShort(rule, schema), MOST_CHARACTERS, () => ' … ');
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

/** What each choice names, no more of them than can be shown. */
function formsOf(choices: unknown, root: JsonObject): string[] {
  const forms: string[] = [];
  let room = MOST_CHARACTERS;
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (room < 0) break;
    const names = namesIn(choice, root);
    forms.push(names);
    room -= names.length + 1;
  }
  return forms;
}

/** Those in the choices of a choice are left out: looking at them again and again would take too long. */
function namesIn(choice: unknown, root: JsonObject): string {
  if (!isJsonObject(choice)) return '';
  const parts = [referredTo(choice['$ref'], root), choice].filter(isJsonObject);
  const properties = parts.flatMap((part) => Object.entries(propertiesOf(part)));
  const required = parts.flatMap((part): unknown[] =>
    Array.isArray(part['required']) ? part['required'] : [],
  );
  const named = new Map([...required.map((name) => [String(name), undefined] as const), ...properties]);
  return [...named].map(([name, schema]) => name + valueIn(schema)).join(', ');
}

/** What tells one choice from another. */
function valueIn(schema: unknown): string {
  const values = valuesOf(schema) ?? [];
  return values.length === 1 ? ` = ${JSON.stringify(values[0])}` : '';
}
