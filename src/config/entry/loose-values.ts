/**
 * Values of the wrong type whose meaning is clear: a number or a boolean where a text is passed on, and a text where a
 * number or a boolean is expected. They are converted, and reported. Pure.
 *
 * A report never holds a value.
 */
import type { Path } from './problem.js';
import { isObject, isOfType, type Report } from './read-shape.js';
import type { Schema } from './schema.js';

/** Fields whose texts are passed on to a program or a server. Elsewhere a number instead of a text is a mistake. */
const PASSED_ON: ReadonlySet<unknown> = new Set(['args', 'env', 'environment', 'headers', 'oauth', 'auth']);

/** The value with its clear parts converted; everything else is left for the validation. */
export function loosened(value: unknown, schema: Schema, path: Path, report: Report): unknown {
  const told = (converted: unknown, message: string): unknown => {
    report(path, message, 'warning');
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
      return told(String(value), `is a ${typeof value}, and is used as text`);
    case 'boolean':
      if (typeof value !== 'string' || !/^\s*(?:true|false)\s*$/i.test(value)) return value;
      return told(value.trim().toLowerCase() === 'true', 'is text, and is used as true or false');
    case 'number':
    case 'integer':
      if (typeof value !== 'string' || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return value;
      return told(Number(value), 'is text, and is used as a number');
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
      report(at, 'is null, and is left out', 'warning');
      return [];
    }
    return [[name, loosened(field, known, at, report)]];
  });
  return Object.fromEntries(fields);
}
