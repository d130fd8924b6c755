/** Conditions on records: which are possible for a field, and which records meet them. */
import { misfitOf } from './category.mjs';

/**
 * @typedef {'equals' | 'notEquals' | 'contains' | 'in' | 'lessThan' | 'atMost' | 'greaterThan' | 'atLeast'} Operator
 * @typedef {{ field: string, operator: Operator, value: unknown }} Filter
 * @typedef {import('./category.mjs').Value} Value
 */

/** @type {Record<Operator, (has: Value, wanted: Value) => boolean>} */
const COMPARE = {
  equals: (has, wanted) => has === wanted,
  notEquals: (has, wanted) => has !== wanted,
  contains: (has, wanted) => String(has).toLowerCase().includes(String(wanted).toLowerCase()),
  in: (has, wanted) => has === wanted,
  lessThan: (has, wanted) => has < wanted,
  atMost: (has, wanted) => has <= wanted,
  greaterThan: (has, wanted) => has > wanted,
  atLeast: (has, wanted) => has >= wanted,
};
export const OPERATORS = /** @type {Operator[]} */ (Object.keys(COMPARE));

/** @type {readonly Operator[]} */
const ORDERED = ['equals', 'notEquals', 'in', 'lessThan', 'atMost', 'greaterThan', 'atLeast'];
/** @type {Record<import('./category.mjs').FieldType, readonly Operator[]>} */
const POSSIBLE = {
  text: ['equals', 'notEquals', 'contains', 'in'],
  number: ORDERED,
  date: ORDERED,
  boolean: ['equals', 'notEquals'],
};

/**
 * The conditions with their places in the arguments. A client may give an object of fields and values instead of a list:
 * `{ "department": "Engineering" }` means `equals`, and an array of values means `in`.
 * @param {readonly Filter[] | Readonly<Record<string, unknown>>} filters
 * @returns {{ at: string, filter: Filter }[]}
 */
export function conditionsOf(filters) {
  if (Array.isArray(filters)) return filters.map((filter, index) => ({ at: `filters[${index}]`, filter }));
  return Object.entries(filters).map(([field, value]) => ({
    at: `filters.${field}`,
    filter: { field, operator: Array.isArray(value) ? 'in' : 'equals', value },
  }));
}

/** @param {import('./category.mjs').FieldType} type */
export function operatorsFor(type) {
  return POSSIBLE[type];
}

/**
 * What is wrong with a condition, for the client that wrote it.
 * @param {Filter} filter
 * @param {import('./category.mjs').Category} category
 * @returns {{ problem: string, allowed: readonly string[] } | undefined}
 */
export function mistakeIn({ field, operator, value }, { id, fields }) {
  const known = fields.get(field);
  if (known === undefined) return { problem: `'${id}' has no field '${field}'`, allowed: [...fields.keys()] };
  const operators = operatorsFor(known.type);
  if (!operators.includes(operator))
    return { problem: `'${operator}' is not for the field '${field}'`, allowed: operators };
  if ((operator === 'in') !== Array.isArray(value)) {
    const expected = operator === 'in' ? 'an array of values' : 'one value';
    return { problem: `'${operator}' compares with ${expected}`, allowed: [expected] };
  }
  const misfit = [value]
    .flat()
    .map((one) => misfitOf(known.type, one))
    .find(Boolean);
  if (misfit !== undefined) return { problem: `'${field}' is compared with ${misfit}`, allowed: [misfit] };
  return undefined;
}

/**
 * A record that lacks the field meets no condition but `notEquals`.
 * @param {readonly Filter[] | Readonly<Record<string, unknown>>} filters of fields and values that fit
 * @returns {(record: import('./category.mjs').DataRecord) => boolean}
 */
export function meets(filters) {
  const conditions = conditionsOf(filters);
  return (record) =>
    conditions.every(({ filter: { field, operator, value } }) => {
      const has = record[field];
      if (has === undefined) return operator === 'notEquals';
      return /** @type {Value[]} */ ([value].flat()).some((wanted) => COMPARE[operator](has, wanted));
    });
}
