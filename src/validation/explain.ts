/**
 * What a validator found, as sentences that say what is wanted. They name places and what the schema asks for, never a
 * value that was found there: arguments may be secrets.
 */
import type { OutputUnit } from '@cfworker/json-schema';
import { cutText } from '../cut-text.js';
import { isJsonObject } from '../catalog/json-object.js';
import { percentDecoded } from '../percent-decoded.js';
import { onlyMeant } from './meant-form.js';

/** One thing that does not fit. */
export interface SchemaProblem {
  /** JSON Pointer (RFC 6901) to the value; empty for the whole. */
  readonly path: string;
  /** What is wanted there, continuing the path: "must be of type integer". */
  readonly message: string;
}

/** A schema and what its references point to, by absolute address. */
export interface SchemaTree {
  readonly root: unknown;
  readonly lookup: Readonly<Record<string, unknown>>;
}

const MOST_PROBLEMS = 20;
const MOST_QUOTED = 200;

/** Keywords whose errors only say that something inside does not fit; what that is has an error of its own. */
const WRAPPERS: ReadonlySet<string> = new Set([
  '$ref',
  '$recursiveRef',
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'allOf',
  'if',
]);

/** What makes a limit one that is not taken itself (draft-04). */
const EXCLUSIVE: ReadonlyMap<string, string> = new Map([
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
]);

type Wording = (wanted: unknown) => string;

const WORDINGS: Readonly<Record<string, Wording>> = {
  false: () => 'is not allowed',
  enum: (wanted) => `must be one of ${quoted(wanted)}`,
  const: (wanted) => `must be ${quoted(wanted)}`,
  minimum: (wanted) => `must be at least ${quoted(wanted)}`,
  maximum: (wanted) => `must be at most ${quoted(wanted)}`,
  exclusiveMinimum: (wanted) => `must be above ${quoted(wanted)}`,
  exclusiveMaximum: (wanted) => `must be below ${quoted(wanted)}`,
  multipleOf: (wanted) => `must be a multiple of ${quoted(wanted)}`,
  minLength: (wanted) => `must have at least ${quoted(wanted)} characters`,
  maxLength: (wanted) => `must have at most ${quoted(wanted)} characters`,
  pattern: (wanted) => `must match the pattern ${quoted(wanted)}`,
  format: (wanted) => `must be written as ${quoted(wanted)}`,
  minItems: (wanted) => `must have at least ${quoted(wanted)} items`,
  maxItems: (wanted) => `must have at most ${quoted(wanted)} items`,
  uniqueItems: () => 'must not hold an item twice',
  minProperties: (wanted) => `must have at least ${quoted(wanted)} properties`,
  maxProperties: (wanted) => `must have at most ${quoted(wanted)} properties`,
  anyOf: () => 'must have one of the allowed forms',
  oneOf: () => 'must have exactly one of the allowed forms',
  not: () => 'has a form that is not allowed',
};

/** The problems, each place and sentence once. */
export function explain(
  found: readonly OutputUnit[],
  value: unknown,
  schema: SchemaTree,
): readonly SchemaProblem[] {
  const types = new Map<string, Set<string>>();
  const problems = new Map<string, SchemaProblem>();
  const tell = (path: string, message: string): void => {
    if (problems.size < MOST_PROBLEMS) problems.set(`${path} ${message}`, { path, message });
  };
  const meant = onlyMeant(found, (location) => wantedAt(location, schema));
  for (const { keyword, instanceLocation, keywordLocation } of meant) {
    if (WRAPPERS.has(keyword)) continue;
    const path = toPointer(instanceLocation);
    const wanted = wantedAt(keywordLocation, schema);
    if (keyword === 'type') {
      const known = types.get(path) ?? new Set();
      types.set(path, known);
      for (const type of [wanted].flat()) known.add(String(type));
    } else if (keyword === 'required') {
      const properties = wantedAt(keywordLocation.replace(/required$/, 'properties'), schema);
      for (const name of missing(wanted, properties, valueAt(path, value))) {
        tell(`${path}/${escaped(name)}`, 'is missing');
      }
    } else {
      const exclusive = EXCLUSIVE.get(keyword);
      const isExclusive = wantedAt(keywordLocation.replace(/[^/]+$/, exclusive ?? keyword), schema) === true;
      const word = isExclusive && exclusive !== undefined ? exclusive : keyword;
      tell(path, WORDINGS[word]?.(wanted) ?? `must fit '${keyword}'`);
    }
  }
  for (const [path, names] of types) {
    for (const form of ['anyOf', 'oneOf']) problems.delete(`${path} ${WORDINGS[form]?.(undefined)}`);
    tell(path, `must be of type ${[...names].join(' or ')}`);
  }
  return [...problems.values()];
}

function quoted(wanted: unknown): string {
  const values = Array.isArray(wanted) ? wanted : [wanted];
  return cutText(values.map((each) => JSON.stringify(each)).join(', '), MOST_QUOTED);
}

/** What a keyword of the schema says, by the way that led to it. */
function wantedAt(keywordLocation: string, { root, lookup }: SchemaTree): unknown {
  let node: unknown = root;
  for (const token of tokensOf(toPointer(keywordLocation))) {
    if (!isJsonObject(node) && !Array.isArray(node)) return undefined;
    const target: unknown =
      token === '$ref' ? (node as Record<string, unknown>)['__absolute_ref__'] : undefined;
    node = typeof target === 'string' ? lookup[target] : (node as Record<string, unknown>)[token];
  }
  return node;
}

function valueAt(pointer: string, value: unknown): unknown {
  let node = value;
  for (const token of tokensOf(pointer)) node = (node as Record<string, unknown>)[token];
  return node;
}

/** Some generators list as required what has a default, and their servers take it as missing. */
function missing(required: unknown, properties: unknown, value: unknown): readonly string[] {
  if (!Array.isArray(required) || !isJsonObject(value)) return [];
  return required.map(String).filter((name) => !Object.hasOwn(value, name) && !hasDefault(properties, name));
}

function hasDefault(properties: unknown, name: string): boolean {
  if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) return false;
  const property = properties[name];
  return isJsonObject(property) && property['default'] !== undefined;
}

/** Of the fragment that the validator writes, the pointer without its percent encoding. */
function toPointer(location: string): string {
  return percentDecoded(location.slice(1));
}

function tokensOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
