/**
 * Converts and reports values of the wrong type whose meaning is clear: a number or a boolean in a field whose text is
 * passed on, and text in a field that takes a number or a boolean. Pure.
 *
 * A report never contains the value.
 */
import type { Path } from './problem.js';
import { isObject, isOfType, type Report } from './read-shape.js';
import type { Schema } from './schema.js';

/** Fields whose text is passed on to a program or a server. In other fields, a number in place of text is a mistake. */
const PASSED_ON: ReadonlySet<unknown> = new Set(['args', 'env', 'environment', 'headers', 'oauth', 'auth']);

/** The value with all clear parts converted; the validation handles the rest. */
export function loosened(value: unknown, schema: Schema, path: Path, report: Report): unknown {
  const reported = (converted: unknown, message: string): unknown => {
    report(path, 'converted-value', message, 'warning');
    return converted;
  };
  if (schema.anyOf !== undefined) {
    const fitting = schema.anyOf.find((option) => isOfType(value, option));
    if (fitting !== undefined) return loosened(value, fitting, path, report);
    const isScalar = typeof value !== 'object';
    const first = schema.anyOf.find(({ type }) => type !== 'object' && type !== 'array');
    return isScalar && first !== undefined ? loosened(value, first, path, report) : value;
  }
  switch (schema.type) {
    case 'string':
      if (!PASSED_ON.has(path[0]) || (typeof value !== 'number' && typeof value !== 'boolean')) return value;
      return reported(String(value), `is a ${typeof value}, and is used as text`);
    case 'boolean':
      if (typeof value !== 'string' || !/^\s*(?:true|false)\s*$/i.test(value)) return value;
      return reported(value.trim().toLowerCase() === 'true', 'is text, and is used as true or false');
    case 'number':
    case 'integer':
      if (typeof value !== 'string' || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return value;
      return reported(Number(value), 'is text, and is used as a number');
    case 'array': {
      const { items } = schema;
      if (!Array.isArray(value) || items === undefined) return value;
      return value.map((item: unknown, index) => loosened(item, items, [...path, index], report));
    }
    case 'object':
      return isObject(value) ? loosenedFields(value, schema, path, report) : value;
    default:
      return value;
  }
}

function loosenedFields(
  value: Readonly<Record<string, unknown>>,
  { properties = {}, additionalProperties }: Schema,
  path: Path,
  report: Report,
): Readonly<Record<string, unknown>> {
  const fields = Object.entries(value).flatMap(([name, field]): (readonly [string, unknown])[] => {
    const at = [...path, name];
    const isNamed = Object.hasOwn(properties, name);
    const known = isNamed ? properties[name] : additionalProperties;
    if (known === undefined || known === false) return [[name, field]];
    if (field === null && !isNamed) {
      report(at, 'converted-value', 'is null, and is left out', 'warning');
      return [];
    }
    return [[name, loosened(field, known, at, report)]];
  });
  return Object.fromEntries(fields);
}
