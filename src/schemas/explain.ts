/**
 * Turns the findings of a validator into sentences. They name places and what the schema expects, never a value that
 * was found: arguments may be secrets.
 */
import type { OutputUnit } from '@cfworker/json-schema';
import { cutText } from '../text/visible-text.js';
import { isJsonObject, pointerToken } from '../json/json-object.js';
import { percentDecoded } from '../text/host-reach.js';
import { asText } from '../text/as-text.js';

/** One place that does not fit the schema. */
export interface SchemaProblem {
  /** JSON Pointer (RFC 6901) to the value; empty for the whole. */
  readonly path: string;
  /** What the schema expects there, continuing the path: "must be of type integer". */
  readonly message: string;
}

/** A schema and what its references point to, by absolute address. */
export interface SchemaTree {
  readonly root: unknown;
  readonly lookup: Readonly<Record<string, unknown>>;
}

const MAX_PROBLEMS = 20;
const MAX_QUOTED = 200;

/** Keywords whose errors only say that something inside does not fit; that has an error of its own. */
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

/** The keyword that makes a limit exclusive (draft-04). */
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

/** The problems, without repeating a place and sentence. */
export function explain(
  found: readonly OutputUnit[],
  value: unknown,
  schema: SchemaTree,
): readonly SchemaProblem[] {
  const types = new Map<string, Set<string>>();
  const problems = new Map<string, SchemaProblem>();
  const report = (path: string, message: string): void => {
    if (problems.size < MAX_PROBLEMS) problems.set(`${path} ${message}`, { path, message });
  };
  const meant = onlyMeant(found, (location) => wantedAt(location, schema));
  for (const { keyword, instanceLocation, keywordLocation } of meant) {
    if (WRAPPERS.has(keyword)) continue;
    const path = toPointer(instanceLocation);
    const wanted = wantedAt(keywordLocation, schema);
    if (keyword === 'type') {
      const known = types.get(path) ?? new Set();
      types.set(path, known);
      for (const type of [wanted].flat()) known.add(asText(type));
    } else if (keyword === 'required') {
      const properties = wantedAt(keywordLocation.replace(/required$/, 'properties'), schema);
      for (const name of missing(wanted, properties, valueAt(path, value))) {
        report(`${path}/${pointerToken(name)}`, 'is missing');
      }
    } else {
      const exclusive = EXCLUSIVE.get(keyword);
      const isExclusive = wantedAt(keywordLocation.replace(/[^/]+$/, exclusive ?? keyword), schema) === true;
      const word = isExclusive && exclusive !== undefined ? exclusive : keyword;
      report(path, WORDINGS[word]?.(wanted) ?? `must fit '${keyword}'`);
    }
  }
  for (const [path, names] of types) {
    for (const form of ['anyOf', 'oneOf']) problems.delete(`${path} ${WORDINGS[form]?.(undefined)}`);
    report(path, `must be of type ${[...names].join(' or ')}`);
  }
  return [...problems.values()];
}

function quoted(wanted: unknown): string {
  const values = Array.isArray(wanted) ? wanted : [wanted];
  return cutText(values.map((each) => JSON.stringify(each)).join(', '), MAX_QUOTED);
}

/** The value of a keyword in the schema, by its location. */
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

/**
 * The missing required properties. One with a default may be missing: some generators list it as required although the
 * server does not need it.
 */
function missing(required: unknown, properties: unknown, value: unknown): readonly string[] {
  if (!Array.isArray(required) || !isJsonObject(value)) return [];
  return required.map(String).filter((name) => !Object.hasOwn(value, name) && !hasDefault(properties, name));
}

function hasDefault(properties: unknown, name: string): boolean {
  if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) return false;
  const property = properties[name];
  return isJsonObject(property) && property['default'] !== undefined;
}

/** The JSON Pointer in the validator's fragment, without percent encoding. */
function toPointer(location: string): string {
  return percentDecoded(location.slice(1));
}

function tokensOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * If a value may have several forms (`anyOf`, `oneOf`), only problems with the intended form are reported; others would
 * mislead. A form is not intended if the value is of another type, or differs in a property with a fixed value.
 */
const CHOICES: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
/** With more findings than this, the search for the intended form would take too long. */
const MAX_FOUND = 200;

/**
 * Drops findings in forms that are not intended; keeps all unless exactly one form is intended. `wantedAt` reads the
 * schema.
 */
function onlyMeant(
  found: readonly OutputUnit[],
  wantedAt: (keywordLocation: string) => unknown,
): readonly OutputUnit[] {
  if (found.length > MAX_FOUND) return found;
  const places = placesOf(found);
  let left = found;
  for (const choice of found) {
    if (!CHOICES.has(choice.keyword) || !left.includes(choice)) continue;
    const wanted = wantedAt(choice.keywordLocation);
    const formOf = (unit: OutputUnit): string | undefined => formIn(choice, unit, places.get(unit) ?? '');
    const inForms = left.filter((unit) => formOf(unit) !== undefined);
    const wrong = new Set(inForms.map(formOf));
    const meant = new Set(wrong);
    for (const unit of inForms) if (isForeign(unit, choice, wantedAt)) meant.delete(formOf(unit));
    // A form without findings fits.
    if (meant.size !== 1 || !Array.isArray(wanted) || wrong.size < wanted.length) continue;
    left = left.filter((unit) => unit !== choice && (!inForms.includes(unit) || meant.has(formOf(unit))));
  }
  return left;
}

/** The place in the schema of each finding. A value that is not allowed at all follows the finding that says so. */
function placesOf(found: readonly OutputUnit[]): ReadonlyMap<OutputUnit, string> {
  const places = new Map<OutputUnit, string>();
  let last = '';
  for (const unit of found) {
    if (unit.keyword !== 'false') last = unit.keywordLocation;
    places.set(unit, last);
  }
  return places;
}

/** The index of the form that a finding belongs to, as text; undefined if it is outside that choice. */
function formIn(choice: OutputUnit, unit: OutputUnit, place: string): string | undefined {
  const isThere = isWithin(unit.instanceLocation, choice.instanceLocation);
  if (!isThere || unit === choice || !isWithin(place, choice.keywordLocation)) return undefined;
  return place.slice(choice.keywordLocation.length + 1).split('/', 1)[0];
}

function isForeign(
  { keyword, keywordLocation, instanceLocation }: OutputUnit,
  choice: OutputUnit,
  wantedAt: (keywordLocation: string) => unknown,
): boolean {
  if (keyword === 'type') return instanceLocation === choice.instanceLocation;
  const isOneValue =
    keyword === 'const' || (keyword === 'enum' && [wantedAt(keywordLocation)].flat().length < 2);
  const property = instanceLocation.slice(choice.instanceLocation.length + 1);
  return isOneValue && property !== '' && !property.includes('/');
}

function isWithin(location: string, whole: string): boolean {
  return location === whole || location.startsWith(`${whole}/`);
}
