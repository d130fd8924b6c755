/**
 * Reads an unknown value by a schema: returns the fields that the schema names, and reports mismatches.
 *
 * R1. A report never holds a value from the input, except one that was to be a word of a fixed list.
 * R2. Null means absent if a field is optional. Unknown fields are left out of the result.
 */
import type { ConfigProblemCode } from '../../errors.js';
import { printable, type Path } from './problem.js';
import type { Schema } from './schema.js';
import { nameAtEnd, nearestName } from '../../text/near-miss.js';

export type Report = (path: Path, code: ConfigProblemCode, message: string, severity?: 'warning') => void;

type Fields = Readonly<Record<string, unknown>>;

/** The part of `value` that `schema` names. Meaningless if an error was reported. */
export function readShape(value: unknown, schema: Schema, path: Path, report: Report): unknown {
  if (schema.anyOf !== undefined) return readOneOf(value, schema.anyOf, path, report);
  if (schema.type === undefined) return value;
  if (!isOfType(value, schema)) {
    const isFraction = schema.type === 'integer' && Number.isFinite(value) && !Number.isInteger(value);
    const found = isFraction ? 'a fraction' : kindOf(value);
    report(path, 'wrong-type', `expected ${expectation(schema)}, found ${found}`);
    return undefined;
  }
  if (typeof value === 'string') return readText(value, schema, path, report);
  if (typeof value === 'number') return readNumber(value, schema, path, report);
  if (Array.isArray(value)) return readList(value, schema, path, report);
  if (isObject(value)) return readFields(value, schema, path, report);
  return value;
}

/** A map or a set has no fields, whatever it contains. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isCollection(value);
}

function isCollection(value: unknown): boolean {
  return value instanceof Map || value instanceof Set;
}

export function isEmptyCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** A noun for the value, without the value itself. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (isCollection(value)) return `a ${value instanceof Map ? 'map' : 'set'}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function readOneOf(value: unknown, options: readonly Schema[], path: Path, report: Report): unknown {
  const fitting = options.find((option) => isOfType(value, option) && hasKind(value, option));
  if (fitting !== undefined) return readShape(value, fitting, path, report);
  report(path, 'wrong-type', `expected ${options.map(expectation).join(' or ')}, found ${kindOf(value)}`);
  return undefined;
}

/** Whether the `kind` of a tagged object is the one that the schema requires. */
function hasKind(value: unknown, schema: Schema): boolean {
  const kinds: readonly unknown[] | undefined = schema.properties?.['kind']?.enum;
  return kinds === undefined || (isObject(value) && kinds.includes(value['kind']));
}

function readText(value: string, schema: Schema, path: Path, report: Report): string {
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    report(path, 'unknown-value', `expected ${expectation(schema)}, found '${printable(value)}'`);
  }
  if (value.length < (schema.minLength ?? 0)) report(path, 'empty-value', 'must not be empty');
  else if (!matches(value, schema)) {
    const isNul = value.includes('\0');
    report(
      path,
      'invalid-text',
      isNul ? 'must not contain a NUL character' : `expected ${expectation(schema)}`,
    );
  }
  return value;
}

function readNumber(value: number, schema: Schema, path: Path, report: Report): number {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (value < minimum)
    report(path, 'out-of-range', `expected ${expectation(schema)}, found a smaller number`);
  if (value > maximum) report(path, 'out-of-range', `expected ${expectation(schema)}, found a larger number`);
  return value;
}

function readList(value: readonly unknown[], schema: Schema, path: Path, report: Report): readonly unknown[] {
  if (value.length < (schema.minItems ?? 0)) report(path, 'empty-value', 'must not be empty');
  const { items } = schema;
  return items === undefined
    ? value
    : value.map((item, index) => readShape(item, items, [...path, index], report));
}

function readFields(value: Fields, schema: Schema, path: Path, report: Report): Fields {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (value[name] === undefined || value[name] === null) report(path, 'missing-field', `lacks '${name}'`);
  }
  const read: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const at = [...path, name];
    const known = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    if (field === undefined || (field === null && Object.hasOwn(properties, name))) continue;
    if (known === false) {
      const names = Object.keys(properties);
      const meant = nearestName(name, names) ?? nameAtEnd(name, names);
      report(
        at,
        'unknown-field',
        `is not known here${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
        'warning',
      );
    } else if (known !== undefined) {
      if (schema.propertyNames !== undefined && !matches(name, schema.propertyNames)) {
        report(at, 'invalid-text', `is not ${expectation(schema.propertyNames)}`);
      }
      read.push([name, readShape(field, known, at, report)]);
    }
  }
  return Object.fromEntries(read);
}

function matches(text: string, schema: Schema): boolean {
  return schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(text);
}

export function isOfType(value: unknown, schema: Schema): boolean {
  switch (schema.type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'number':
      return Number.isFinite(value);
    case 'integer':
      return Number.isSafeInteger(value);
    default:
      return typeof value === schema.type;
  }
}

function expectation(schema: Schema): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.enum !== undefined) return `one of ${schema.enum.map((word) => `'${word}'`).join(', ')}`;
  switch (schema.type) {
    case 'boolean':
      return 'true or false';
    case 'number':
    case 'integer': {
      const noun = schema.type === 'integer' ? 'a whole number' : 'a number';
      return schema.minimum === undefined ? noun : `${noun} of at least ${schema.minimum}`;
    }
    case 'array':
      return 'a list';
    default:
      return `an ${schema.type ?? 'object'}`;
  }
}
