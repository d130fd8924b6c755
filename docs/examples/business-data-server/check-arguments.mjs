/** Arguments against the part of JSON Schema that the tools use, with problems that say what is allowed. */

/**
 * @typedef {{ at: string, problem: string, allowed?: readonly unknown[] }} Problem
 * @typedef {{ type?: 'object' | 'array' | 'string' | 'integer', description?: string, enum?: readonly string[],
 *   minLength?: number, minimum?: number, maximum?: number, maxItems?: number, default?: unknown, items?: Schema, anyOf?: readonly Schema[],
 *   properties?: Record<string, Schema>, required?: readonly string[], additionalProperties?: false }} Schema
 */

/**
 * @param {unknown} value
 * @param {Schema} schema
 * @param {string} at
 * @returns {Problem[]}
 */
export function problemsOf(value, schema, at = '') {
  if (schema.anyOf !== undefined) return problemsOfAny(value, schema.anyOf, at);
  const problem =
    schema.type !== undefined && !isOf(schema.type, value)
      ? `must be ${named(schema)}`
      : outOfBounds(value, schema);
  if (problem !== undefined)
    return [{ at, problem, ...(schema.enum === undefined ? {} : { allowed: schema.enum }) }];
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined
      ? []
      : value.flatMap((one, index) => problemsOf(one, items, `${at}[${index}]`));
  }
  return schema.type !== 'object' ? [] : problemsInside(/** @type {object} */ (value), schema, at);
}

/**
 * The problems of the first schema whose type fits.
 * @param {unknown} value
 * @param {readonly Schema[]} schemas
 * @param {string} at
 * @returns {Problem[]}
 */
function problemsOfAny(value, schemas, at) {
  const fitting = schemas.find(({ type }) => type === undefined || isOf(type, value));
  if (fitting !== undefined) return problemsOf(value, fitting, at);
  return [{ at, problem: `must be ${schemas.map(named).join(' or ')}` }];
}

/**
 * @param {object} value
 * @param {Schema} schema
 * @param {string} at
 */
function problemsInside(value, { properties = {}, required = [], additionalProperties }, at) {
  const inside = (/** @type {string} */ name) => (at === '' ? name : `${at}.${name}`);
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  const problems = missing.map((name) => ({
    at: inside(name),
    problem: `is missing: ${named(properties[name] ?? {})}`,
  }));
  const allowed = Object.keys(properties);
  return Object.entries(value).reduce((/** @type {Problem[]} */ found, [name, one]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema !== undefined) return [...found, ...problemsOf(one, schema, inside(name))];
    const isAllowed = additionalProperties !== false;
    return isAllowed ? found : [...found, { at: inside(name), problem: 'is not known', allowed }];
  }, problems);
}

/**
 * @param {NonNullable<Schema['type']>} type
 * @param {unknown} value
 */
function isOf(type, value) {
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === 'string';
}

/**
 * @param {unknown} value
 * @param {Schema} schema
 */
function outOfBounds(value, schema) {
  const { minimum = -Infinity, maximum = Infinity, minLength = 0, maxItems = Infinity } = schema;
  if (typeof value === 'number' && (value < minimum || value > maximum)) return `must be ${named(schema)}`;
  if (typeof value === 'string' && value.length < minLength) return 'must not be empty';
  if (Array.isArray(value) && value.length > maxItems) return `must have at most ${maxItems} items`;
  if (schema.enum !== undefined && !schema.enum.includes(String(value)))
    return 'must be one of the allowed values';
  return undefined;
}

/** @param {Schema} schema */
function named({ type, minimum, maximum }) {
  if (type === undefined) return 'any value';
  const bounds =
    minimum === undefined
      ? ''
      : maximum === undefined
        ? ` of at least ${minimum}`
        : ` from ${minimum} to ${maximum}`;
  return `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}${bounds}`;
}
