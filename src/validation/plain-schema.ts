/**
 * Most tools take an object with a few typed fields. Whether a value fits such a schema can be said without the
 * validator, at a fraction of its cost, and without a copy of the value as JSON.
 *
 * Says of a value only that it fits for certain: what is wrong with another one, and every other schema, is for the
 * validator.
 */
import { isJsonObject } from '../catalog/json-object.js';
import { draftOf } from './dialect.js';

/** Whether the value fits for certain. */
export type Fits = (value: unknown) => boolean;

/** Schemas in a schema. */
const MOST_LEVELS = 8;

/** Keywords that ask for nothing. `format` is one unless it is checked. */
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

/** Undefined for a schema that asks for anything else than types, fields, items, ranges and a choice of plain values. */
export function plainSchema(schema: unknown, hasFormats: boolean): Fits | undefined {
  if (!isJsonObject(schema) || (hasFormats && JSON.stringify(schema).includes('"format"'))) return undefined;
  const { $schema: dialect, ...root } = schema;
  return draftOf(dialect) === undefined ? undefined : toFits(root, MOST_LEVELS);
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

/** Of objects and lists, only the validator can say whether they are equal. */
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
      // As JSON there is no such field.
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
  // `every` passes over holes, which are null as JSON.
  return (value) => isList(value) && !value.includes(undefined) && value.every(fits);
}
