/**
 * Writes JSON Schemas as types of TypeScript.
 *
 * W1. Every schema has a type: `unknown`, if TypeScript cannot express it or if it makes no sense. A type is never
 *     narrower than its schema, with one exception: an object that states its fields has no others, unless it says so.
 * W2. No text of a schema leaves a string literal or a comment, and nothing is fetched.
 * W3. The size of the text is limited, whatever a schema refers to: what it refers to is written once, under a name.
 * W4. The same schema always gives the same text.
 */
import { isJsonObject, referredTo, type JsonObject } from '../json/json-object.js';
import { visibleJson } from '../json/write-json.js';
import { asText } from '../text/as-text.js';
import { visibleText } from '../text/visible-text.js';

/** Deeper schemas are `unknown`. */
const MAX_DEPTH = 40;
/** Further schemas of a type are `unknown`. */
const MAX_SCHEMAS = 20_000;
/** An enumeration of more is the type of its values. */
const MAX_LITERALS = 1_000;
const MAX_VARIANTS = 100;
const MAX_DOC = 2_000;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const SCALARS: ReadonlyMap<unknown, string> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
]);

/** A type under a name. */
export interface TypeDeclaration {
  readonly name: string;
  readonly text: string;
}

export interface TypeSubject {
  /** Name of the type. */
  readonly name: string;
  /** Whether the host writes the value: a field with a default may then be missing, and lists may be read-only. */
  readonly isWritten: boolean;
  /** Gives a name that is like the wanted one, and that no other type has. */
  readonly claim: (wanted: string) => string;
  /** Whether descriptions become comments. */
  readonly hasDocs: boolean;
}

/** The type of a schema, followed by the types that it refers to. References point into `root`. */
export function typesOf(
  schema: unknown,
  subject: TypeSubject,
  root: unknown = schema,
): readonly TypeDeclaration[] {
  return new TypeWriter(isJsonObject(root) ? root : {}, subject).write(schema);
}

/** A comment for documentation, with a line break at its end; empty without a text. */
export function docComment(text: string | undefined, indent = ''): string {
  const lines = (text ?? '')
    .slice(0, MAX_DOC)
    .toWellFormed()
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((line) => visibleText(line.replaceAll('\t', '  ')).replaceAll('*/', '*\\/').trimEnd());
  const shown = lines.join('\n').trim();
  if (shown === '') return '';
  if (!shown.includes('\n')) return `${indent}/** ${shown} */\n`;
  const body = shown.split('\n').map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${body.join('\n')}\n${indent} */\n`;
}

/** A name as the key of a field. */
export function keyText(name: string): string {
  return IDENTIFIER.test(name) ? name : visibleJson(name);
}

/** Words of any text as the name of a type. */
export function typeName(...texts: readonly string[]): string {
  const words = texts.flatMap((text) => text.slice(0, 80).match(/[\p{L}\p{Nd}]+/gu) ?? []);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^\p{L}/u.test(name) ? name : `T${name}`;
}

interface Place {
  readonly depth: number;
  readonly indent: string;
  /** The schema of the declaration that is being written, as long as only choices lie between it and this place. */
  readonly within: unknown;
  /** Whether nothing else says which fields an object has. */
  readonly isWhole: boolean;
}

class TypeWriter {
  readonly #root: JsonObject;
  readonly #subject: TypeSubject;
  /** The names of schemas, in the order in which they are found. */
  readonly #names = new Map<unknown, string>();
  #schemas = 0;

  constructor(root: JsonObject, subject: TypeSubject) {
    this.#root = root;
    this.#subject = subject;
  }

  write(first: unknown): readonly TypeDeclaration[] {
    this.#names.set(first, this.#subject.name);
    const written: TypeDeclaration[] = [];
    // A declaration may add names.
    for (const [schema, name] of this.#names)
      written.push({
        name,
        text: this.#type(schema, { depth: 0, indent: '', within: schema, isWhole: schema === first }),
      });
    return written;
  }

  #type(schema: unknown, place: Place): string {
    if (schema === false) return 'never';
    if (!isJsonObject(schema) || place.depth > MAX_DEPTH) return 'unknown';
    this.#schemas += 1;
    if (this.#schemas > MAX_SCHEMAS) return 'unknown';
    const { $ref, allOf, anyOf, oneOf } = schema;
    const isAlone = [$ref, allOf, anyOf, oneOf].every((each) => each === undefined);
    const depth = place.depth + 1;
    const inside = { ...place, depth, isWhole: false };
    return intersection([
      ...($ref === undefined ? [] : [this.#reference($ref, inside)]),
      this.#own(schema, { ...place, depth, isWhole: place.isWhole && isAlone }),
      ...[anyOf, oneOf].map((variants) => this.#variants(variants, inside)),
      ...listOf(allOf).map((part) => this.#type(part, inside)),
    ]);
  }

  #reference(reference: unknown, { within }: Place): string {
    const target = referredTo(reference, this.#root);
    if (target === false) return 'never';
    if (!isJsonObject(target) || (within !== undefined && reaches(target, within, this.#root)))
      return 'unknown';
    const known = this.#names.get(target);
    if (known !== undefined) return known;
    const { name, claim } = this.#subject;
    const given = claim(typeName(name, asText(reference).split('/').at(-1) ?? ''));
    this.#names.set(target, given);
    return given;
  }

  #variants(variants: unknown, place: Place): string {
    const list = listOf(variants);
    if (list.length === 0 || list.length > MAX_VARIANTS) return 'unknown';
    return union(list.map((each) => this.#type(each, place)));
  }

  /** What a schema says without the schemas that it combines. */
  #own(schema: JsonObject, place: Place): string {
    const { type, enum: choice } = schema;
    if (Object.hasOwn(schema, 'const')) return literal(schema['const']);
    if (Array.isArray(choice) && choice.length <= MAX_LITERALS) return union(choice.map(literal));
    if (Array.isArray(choice))
      return union(choice.map((value) => (value === null ? 'null' : typeof value)).map(named));
    const types = new Set(type === undefined ? impliedTypes(schema) : [type].flat());
    return types.size === 0 ? 'unknown' : union([...types].map((each) => this.#ofType(each, schema, place)));
  }

  #ofType(type: unknown, schema: JsonObject, place: Place): string {
    const inside = { ...place, within: undefined, isWhole: true };
    if (type === 'array') return this.#list(schema, inside);
    if (type === 'object') return this.#object(schema, inside, place.isWhole);
    return SCALARS.get(type) ?? 'unknown';
  }

  #list(schema: JsonObject, place: Place): string {
    const { items, prefixItems, additionalItems, minItems } = schema;
    const start = this.#subject.isWritten ? 'readonly ' : '';
    const first = listOf(Array.isArray(items) ? items : prefixItems);
    const rest = Array.isArray(items) ? additionalItems : items;
    if (first.length === 0 || first.length > MAX_VARIANTS) {
      const element = first.length > 0 || Array.isArray(items) ? 'unknown' : this.#type(rest, place);
      return `${start}${grouped(element)}[]`;
    }
    const required = Number.isInteger(minItems) ? Number(minItems) : 0;
    const elements = first.map((each, at) => {
      const text = this.#type(each, place);
      return at < required ? text : `${grouped(text)}?`;
    });
    if (rest !== false) elements.push(`...${grouped(this.#type(rest, place))}[]`);
    return `${start}[${elements.join(', ')}]`;
  }

  #object(schema: JsonObject, place: Place, isWhole: boolean): string {
    const { isWritten, hasDocs } = this.#subject;
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const required = new Set(listOf(schema['required']).filter((name) => typeof name === 'string'));
    const indent = `${place.indent}  `;
    const inside = { ...place, indent };
    const members = Object.entries(properties).map(([name, field]) => {
      const isGiven =
        required.has(name) && !(isWritten && isJsonObject(field) && Object.hasOwn(field, 'default'));
      const doc = hasDocs ? docComment(docOf(field), indent) : '';
      const text = this.#type(field, inside);
      return `${doc}${indent}${keyText(name)}${isGiven ? '' : '?'}: ${isGiven || !isWritten ? text : union([text, 'undefined'])};\n`;
    });
    for (const name of required)
      if (!Object.hasOwn(properties, name)) members.push(`${indent}${keyText(name)}: unknown;\n`);
    const others = this.#otherFields(schema, members.length > 0, inside, isWhole);
    if (others !== undefined) members.push(`${indent}[name: string]: ${others};\n`);
    return `{\n${members.join('')}${place.indent}}`;
  }

  /** The type of the fields that are not named; undefined if there are none. */
  #otherFields(schema: JsonObject, hasNamed: boolean, place: Place, isWhole: boolean): string | undefined {
    const { additionalProperties: additional, patternProperties: patterns } = schema;
    const matching = isJsonObject(patterns) ? Object.values(patterns) : [];
    const isOpen = additional !== undefined && additional !== false;
    if (matching.length > 0 || isOpen) {
      // It has to fit all named fields as well.
      if (hasNamed) return 'unknown';
      const rest = additional === undefined || isOpen ? [additional ?? true] : [];
      return union([...matching, ...rest].map((each) => this.#type(each, place)));
    }
    if (hasNamed) return undefined;
    const isEmpty = isWhole && this.#subject.isWritten && Object.hasOwn(schema, 'properties');
    return isEmpty || additional === false ? 'never' : 'unknown';
  }
}

function docOf(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { title, description = title, deprecated } = schema;
  const text = typeof description === 'string' ? description : '';
  return deprecated === true ? `${text}\n@deprecated` : text;
}

function impliedTypes({
  properties,
  required,
  additionalProperties,
  items,
  prefixItems,
}: JsonObject): readonly string[] {
  if (properties !== undefined || required !== undefined || additionalProperties !== undefined)
    return ['object'];
  return items === undefined && prefixItems === undefined ? [] : ['array'];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const MAX_VISITED = 1_000;

/** Whether a schema leads to another one for the same value: TypeScript refuses a type that consists of itself. */
function reaches(from: JsonObject, wanted: unknown, root: JsonObject): boolean {
  const found = new Set<unknown>([from]);
  for (const schema of found) {
    if (schema === wanted || found.size > MAX_VISITED) return true;
    if (!isJsonObject(schema)) continue;
    const { $ref, anyOf, oneOf, allOf } = schema;
    for (const each of [referredTo($ref, root), anyOf, oneOf, allOf].flat()) found.add(each);
  }
  return false;
}

function literal(value: unknown): string {
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'readonly unknown[]' : 'object';
  return visibleJson(value);
}

function named(type: string): string {
  return SCALARS.get(type) ?? (type === 'null' ? 'null' : 'object');
}

/** `unknown` contains all others, and `never` none. */
function union(types: readonly string[]): string {
  if (types.includes('unknown')) return 'unknown';
  const parts = [...new Set(types)].filter((type) => type !== 'never');
  return parts.length === 0
    ? 'never'
    : parts.map((each) => (parts.length > 1 && each.includes(' & ') ? `(${each})` : each)).join(' | ');
}

function intersection(types: readonly string[]): string {
  if (types.includes('never')) return 'never';
  const parts = [...new Set(types)].filter((type) => type !== 'unknown');
  return parts.length === 0
    ? 'unknown'
    : parts.map((each) => (parts.length > 1 ? grouped(each) : each)).join(' & ');
}

function grouped(type: string): string {
  return /^[\w$]+$/.test(type) ? type : `(${type})`;
}
