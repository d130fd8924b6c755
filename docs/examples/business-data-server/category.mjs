/** One category: its fields, its records, and whether the two fit. */
import { DataError } from './data-error.mjs';
import { isObject } from './is-object.mjs';

/**
 * @typedef {'text' | 'number' | 'boolean' | 'date'} FieldType
 * @typedef {{ type: FieldType, description: string }} Field
 * @typedef {string | number | boolean} Value
 * @typedef {Record<string, Value>} DataRecord A field that has no value is left out.
 * @typedef {{ id: string, title: string, description: string, fields: ReadonlyMap<string, Field>,
 *   records: readonly DataRecord[] }} Category
 */

/** @type {Record<FieldType, { is: (value: unknown) => boolean, name: string }>} */
const TYPES = {
  text: { is: (value) => typeof value === 'string', name: 'a text' },
  number: { is: (value) => typeof value === 'number' && Number.isFinite(value), name: 'a number' },
  boolean: { is: (value) => typeof value === 'boolean', name: 'true or false' },
  date: { is: isDate, name: 'a date such as 2026-01-31' },
};

/**
 * @param {FieldType} type
 * @param {unknown} value
 * @returns {string | undefined} what the value should be, if it is not
 */
export function misfitOf(type, value) {
  return TYPES[type].is(value) ? undefined : TYPES[type].name;
}

/**
 * @param {string} id
 * @param {string} text
 * @returns {Category}
 */
export function categoryFrom(id, text) {
  const wrong = (/** @type {string} */ what) => new DataError(`The data of '${id}' cannot be used: ${what}.`);
  const data = parsed(text);
  if (!isObject(data)) throw wrong('it is not an object in JSON');
  const { title, description, fields, records } = data;
  if (typeof title !== 'string' || typeof description !== 'string')
    throw wrong('its title and description have to be texts');
  if (!isObject(fields)) throw wrong('its fields have to be an object');
  if (!Array.isArray(records)) throw wrong('its records have to be an array');

  const known = new Map(
    Object.entries(fields).map(([name, field]) => {
      if (!isField(field))
        throw wrong(`field '${name}' needs a type (${Object.keys(TYPES).join(', ')}) and a description`);
      return /** @type {const} */ ([name, field]);
    }),
  );
  const checked = records.map((record, index) => {
    const problem = isObject(record) ? problemOf(record, known) : 'it is not an object';
    if (problem !== undefined) throw wrong(`record ${index + 1}: ${problem}`);
    // Without a prototype: a field may have any name.
    return /** @type {DataRecord} */ (Object.assign(Object.create(null), record));
  });
  return { id, title, description, fields: known, records: checked };
}

/** @param {string} text */
function parsed(text) {
  try {
    return /** @type {unknown} */ (JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * @param {unknown} value
 * @returns {value is Field}
 */
function isField(value) {
  return (
    isObject(value) &&
    typeof value['type'] === 'string' &&
    Object.hasOwn(TYPES, value['type']) &&
    typeof value['description'] === 'string'
  );
}

/**
 * @param {Record<string, unknown>} record
 * @param {ReadonlyMap<string, Field>} fields
 */
function problemOf(record, fields) {
  for (const [name, value] of Object.entries(record)) {
    const field = fields.get(name);
    if (field === undefined) return `'${name}' is no field of the category`;
    const expected = misfitOf(field.type, value);
    if (expected !== undefined) return `'${name}' has to be ${expected}`;
  }
  return undefined;
}

/** @param {unknown} value */
function isDate(value) {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}
