/**
 * A tool as a signature, such as `read_file(path: string, head?: number)`: required arguments first, each with its type in the
 * notation of TypeScript. A type that would be long is shortened: `schemas/type-text.ts` writes it in full.
 */
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { asText } from '../text/as-text.js';
import { cleanText } from '../text/server-text.js';
import type { CatalogTool } from './registry.js';

/** Objects inside objects that are written out. */
const MAX_DEPTH = 2;
const MAX_MEMBERS = 5;
const MAX_CHOICES = 6;
const MAX_LITERAL = 40;
const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

export function toSignature({ tool, inputSchema }: Pick<CatalogTool, 'tool' | 'inputSchema'>): string {
  const members = membersOf(inputSchema, MAX_DEPTH).map(({ text }) => text);
  return `${oneLine(tool)}(${members.join(', ')})`;
}

/** The properties of an object, with the required ones first. */
function membersOf(schema: JsonObject, depth: number): readonly { text: string; isRequired: boolean }[] {
  const { properties, required } = schema;
  const names = new Set(Array.isArray(required) ? required : []);
  return Object.entries(isJsonObject(properties) ? properties : {})
    .map(([name, type]) => {
      const isRequired = names.has(name);
      const shown = IDENTIFIER.test(name) ? name : JSON.stringify(name);
      return { text: `${oneLine(shown)}${isRequired ? '' : '?'}: ${typeOf(type, depth)}`, isRequired };
    })
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

function typeOf(schema: unknown, depth: number): string {
  if (!isJsonObject(schema)) return 'any';
  const { type, anyOf, oneOf } = schema;
  if ('const' in schema) return literal(schema['const']);
  if (Array.isArray(schema['enum'])) return choices(schema['enum'].map((each: unknown) => literal(each)));
  const variants = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(variants)) return choices(variants.map((each: unknown) => typeOf(each, depth)));
  if (Array.isArray(type))
    return choices(type.map((each: unknown) => typeOf({ ...schema, type: each }, depth)));
  if (type === 'array') return arrayOf(typeOf(schema['items'], depth));
  if (type === 'object' || 'properties' in schema) return objectOf(schema, depth);
  return TYPES[asText(type)] ?? 'any';
}

function arrayOf(element: string): string {
  return element.includes(' | ') ? `(${element})[]` : `${element}[]`;
}

function objectOf(schema: JsonObject, depth: number): string {
  const members = depth > 0 ? membersOf(schema, depth - 1) : [];
  if (members.length === 0) return 'object';
  const shown = members.slice(0, MAX_MEMBERS).map(({ text }) => text);
  if (shown.length < members.length) shown.push('…');
  return `{ ${shown.join(', ')} }`;
}

function choices(types: readonly string[]): string {
  const all = [...new Set(types)];
  const shown = all.length > MAX_CHOICES ? [...all.slice(0, MAX_CHOICES), '…'] : all;
  return shown.join(' | ') || 'never';
}

function literal(value: unknown): string {
  const text = oneLine(JSON.stringify(value) ?? 'any');
  return text.length > MAX_LITERAL ? `${text.slice(0, MAX_LITERAL)}…` : text;
}

/** The beginning of a description, up to the end of its first sentence. */
export function firstSentence(text: string): string {
  return /^.*?[.!?](?= |$)/.exec(text)?.[0] ?? text;
}

function oneLine(text: string): string {
  return cleanText(text.replace(/\s+/g, ' ').trim());
}
