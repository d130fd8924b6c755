/**
 * A fast check for common schemas. Most tools take an object with a few typed fields; whether a value fits such a
 * schema can be determined without the validator, at a fraction of its cost, and without a copy of the value as JSON.
 *
 * It only says that a value certainly fits. For any other value, and for any other schema, the validator is needed.
 */
import { isJsonObject } from '../json/json-object.js';
import type { SchemaDraft } from '@cfworker/json-schema';

/** Whether the value certainly fits. */
export type Fits = (value: unknown) => boolean;

/** Longest nesting of schemas that is handled here. */
const MAX_LEVELS = 8;

/** Keywords without requirements. `format` is one unless it is checked. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$comment',
  'default',
  'deprecated',
  'description',
  'examples',
  'format',
  'readOnly',
  'title',
  'writeOnly',
]);

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype && value['toJSON'] === undefined;

const BY_TYPE: ReadonlyMap<unknown, Fits> = new Map<unknown, Fits>([
  ['string', (value) => typeof value === 'string'],
  ['number', Number.isFinite],
  ['integer', Number.isInteger],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
]);

/** Undefined if the schema has requirements other than types, fields, items, ranges and a choice of plain values. */
export function plainSchema(schema: unknown, hasFormats: boolean): Fits | undefined {
  if (!isJsonObject(schema) || (hasFormats && JSON.stringify(schema).includes('"format"'))) return undefined;
  const { $schema: dialect, ...root } = schema;
  return draftOf(dialect) === undefined ? undefined : toFits(root, MAX_LEVELS);
}

function toFits(schema: unknown, levels: number): Fits | undefined {
  if (!isJsonObject(schema) || levels === 0) return undefined;
  const { type, properties, required, additionalProperties, items, enum: choice, ...others } = schema;
  const { minimum = -Infinity, maximum = Infinity, ...rest } = others;
  if (!Object.keys(rest).every((keyword) => ANNOTATIONS.has(keyword))) return undefined;
  if (typeof minimum !== 'number' || typeof maximum !== 'number') return undefined;
  const isOfType =
    type === 'object'
      ? toObjectFits(properties ?? {}, required ?? [], additionalProperties ?? true, levels)
      : type === 'array'
        ? toArrayFits(items, levels)
        : BY_TYPE.get(type);
  if (isOfType === undefined) return undefined;
  const isChosen = choice === undefined ? () => true : toChoiceFits(choice);
  if (isChosen === undefined) return undefined;
  const isInRange: Fits = (value) => typeof value !== 'number' || (value >= minimum && value <= maximum);
  return (value) => isOfType(value) && isInRange(value) && isChosen(value);
}

/** Only the validator compares objects and lists. */
function toChoiceFits(choice: unknown): Fits | undefined {
  if (!Array.isArray(choice) || choice.some((value) => typeof value === 'object' && value !== null)) {
    return undefined;
  }
  return (value) => choice.includes(value);
}

function toObjectFits(
  properties: unknown,
  required: unknown,
  additional: unknown,
  levels: number,
): Fits | undefined {
  if (!isJsonObject(properties) || !Array.isArray(required) || typeof additional !== 'boolean')
    return undefined;
  const known = new Map<string, Fits>();
  for (const [name, schema] of Object.entries(properties)) {
    const fits = toFits(schema, levels - 1);
    if (fits === undefined) return undefined;
    known.set(name, fits);
  }
  return (value) => {
    if (!isPlainObject(value)) return false;
    for (const name of Object.keys(value)) {
      const field = value[name];
      // JSON omits such a field.
      if (field === undefined) continue;
      const fits = known.get(name);
      if (fits === undefined ? !additional : !fits(field)) return false;
    }
    return required.every((name: string) => Object.hasOwn(value, name) && value[name] !== undefined);
  };
}

function toArrayFits(items: unknown, levels: number): Fits | undefined {
  const isList = (value: unknown): value is readonly unknown[] =>
    Array.isArray(value) && !('toJSON' in value);
  if (items === undefined) return isList;
  const fits = toFits(items, levels - 1);
  if (fits === undefined) return undefined;
  // `every` skips holes, which become null in JSON.
  return (value) => isList(value) && !value.includes(undefined) && value.every(fits);
}

const DIALECTS: readonly (readonly [name: RegExp, draft: SchemaDraft])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, '2020-12'],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, '2019-09'],
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, '7'],
  [/^https?:\/\/json-schema\.org\/draft-04\/schema#?$/, '4'],
  [/^https?:\/\/json-schema\.org\/schema#?$/, '2020-12'],
];

/** The dialect of a `$schema`; undefined if it is not supported. */
export function draftOf(name: unknown): SchemaDraft | undefined {
  if (name === undefined) return '2020-12';
  return DIALECTS.find(([pattern]) => typeof name === 'string' && pattern.test(name))?.[1];
}
