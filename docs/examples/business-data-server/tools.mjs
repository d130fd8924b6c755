/** The three tools: what they are called with, what of it can be wrong for a category, and what they do. */
import { groupsOf, spreadOf } from './analysis.mjs';
import { conditionsOf, meets, mistakeIn, operatorsFor, OPERATORS } from './filters.mjs';

/**
 * @typedef {import('./category.mjs').Category} Category
 * @typedef {import('./check-arguments.mjs').Schema} Schema
 * @typedef {import('./check-arguments.mjs').Problem} Problem
 * @typedef {{ categoryId: string, filters?: import('./filters.mjs').Filter[] | Record<string, unknown>, fields?: string[], sortBy?: string,
 *   order?: 'ascending' | 'descending', limit?: number, offset?: number, groupBy?: string, measure?: string }} Arguments
 * @typedef {{ name: string, title: string, description: string, inputSchema: Schema,
 *   mistakes(category: Category, args: Arguments): Problem[], run(category: Category, args: Arguments): object }} Tool
 */

/** @type {Schema} */
export const CATEGORY_ID = { type: 'string', minLength: 1, description: 'Id of the category.' };
/** @type {Schema} */
const FILTER = {
  type: 'object',
  properties: {
    field: { type: 'string', description: 'Name of a field of the category.' },
    operator: {
      type: 'string',
      enum: OPERATORS,
      description: '`contains` searches in a text and ignores case.',
    },
    value: {
      description: 'A value of the type of the field; for `in`, an array of such values. Dates: 2026-01-31.',
    },
  },
  required: ['field', 'operator', 'value'],
  additionalProperties: false,
};
/** @type {Schema} */
const FILTERS = {
  description:
    'Conditions, all of which a record must meet: a list, or an object of fields and values such as { "city": "Lyon" }.',
  anyOf: [{ type: 'array', maxItems: 20, items: FILTER }, { type: 'object' }],
};

/** @type {readonly Tool[]} */
export const TOOLS = [
  {
    name: 'relevant-data.describeCategory',
    title: 'Describe a category',
    description:
      'Tells what a category holds: its fields with their types and operators, and how many records it has.',
    inputSchema: argumentsOf({ categoryId: CATEGORY_ID }),
    mistakes: () => [],
    run: ({ id, title, description, fields, records }) => ({
      categoryId: id,
      title,
      description,
      recordCount: records.length,
      fields: [...fields].map(([name, field]) => ({ name, ...field, operators: operatorsFor(field.type) })),
    }),
  },
  {
    name: 'relevant-data.searchRecords',
    title: 'Search records',
    description:
      'Finds the records of a category that meet all conditions, in an order of your choice, page by page.',
    inputSchema: argumentsOf({
      categoryId: CATEGORY_ID,
      filters: FILTERS,
      fields: {
        type: 'array',
        items: { type: 'string' },
        maxItems: 100,
        description: 'Which fields to give; all where left out.',
      },
      sortBy: { type: 'string', description: 'Field to sort by; left out: the order of the file.' },
      order: { type: 'string', enum: ['ascending', 'descending'], default: 'ascending' },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      offset: {
        type: 'integer',
        minimum: 0,
        default: 0,
        description: 'How many to leave out at the beginning.',
      },
    }),
    mistakes: (category, { filters = [], fields = [], sortBy }) => [
      ...filterMistakes(filters, category),
      ...fields.flatMap((field, index) => fieldMistakes(`fields[${index}]`, field, category)),
      ...fieldMistakes('sortBy', sortBy, category),
    ],
    run: search,
  },
  {
    name: 'relevant-data.analyze',
    title: 'Analyze records',
    description:
      'Counts the records of a category that meet all conditions, and gives figures: of all fields, or of groups.',
    inputSchema: argumentsOf({
      categoryId: CATEGORY_ID,
      filters: FILTERS,
      groupBy: { type: 'string', description: 'Field whose values make the groups.' },
      measure: {
        type: 'string',
        description: 'Field of numbers to give sum, average, minimum and maximum of.',
      },
    }),
    mistakes: (category, { filters = [], groupBy, measure }) => [
      ...filterMistakes(filters, category),
      ...fieldMistakes('groupBy', groupBy, category),
      ...fieldMistakes('measure', measure, category, 'number'),
    ],
    run: analyze,
  },
];

/** @type {Tool['run']} */
function search(
  { id, records },
  { filters = [], fields, sortBy, order = 'ascending', limit = 20, offset = 0 },
) {
  const matching = records.filter(meets(filters));
  if (sortBy !== undefined) matching.sort(comparing(sortBy, order === 'ascending' ? 1 : -1));
  const page = matching.slice(offset, offset + limit);
  const next = offset + page.length;
  return {
    categoryId: id,
    total: matching.length,
    offset,
    records: fields === undefined ? page : page.map((record) => picked(record, fields)),
    ...(page.length > 0 && next < matching.length ? { nextOffset: next } : {}),
  };
}

/** @type {Tool['run']} */
function analyze({ id, fields, records }, { filters = [], groupBy, measure }) {
  const matching = records.filter(meets(filters));
  const count = { categoryId: id, count: matching.length };
  if (groupBy !== undefined) return { ...count, groupBy, groups: groupsOf(matching, groupBy, measure) };
  const measured = measure === undefined ? [...fields.keys()] : [measure];
  const spread = measured.map((name) => [name, spreadOf(matching, name, fields.get(name)?.type ?? 'text')]);
  return { ...count, fields: Object.fromEntries(spread) };
}

/**
 * Records without the field come last, in either order.
 * @param {string} field
 * @param {1 | -1} direction
 * @returns {(one: import('./category.mjs').DataRecord, other: import('./category.mjs').DataRecord) => number}
 */
function comparing(field, direction) {
  return (one, other) => {
    const [a, b] = [one[field], other[field]];
    if (a === b) return 0;
    if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
    return a < b ? -direction : direction;
  };
}

/**
 * @param {import('./category.mjs').DataRecord} record
 * @param {readonly string[]} fields
 */
function picked(record, fields) {
  return Object.fromEntries(Object.entries(record).filter(([name]) => fields.includes(name)));
}

/**
 * @param {readonly import('./filters.mjs').Filter[] | Readonly<Record<string, unknown>>} filters
 * @param {Category} category
 * @returns {Problem[]}
 */
function filterMistakes(filters, category) {
  return conditionsOf(filters).flatMap(({ at, filter }) => {
    const mistake = mistakeIn(filter, category);
    return mistake === undefined ? [] : [{ at, ...mistake }];
  });
}

/**
 * @param {string} at
 * @param {string | undefined} name
 * @param {Category} category
 * @param {import('./category.mjs').FieldType} [type] that it has to be of
 * @returns {Problem[]}
 */
function fieldMistakes(at, name, { id, fields }, type) {
  if (name === undefined) return [];
  const allowed = [...fields]
    .filter(([, field]) => type === undefined || field.type === type)
    .map(([one]) => one);
  if (allowed.includes(name)) return [];
  return [{ at, problem: `'${id}' has no ${type === undefined ? '' : `${type} `}field '${name}'`, allowed }];
}

/** @param {Record<string, Schema>} properties @returns {Schema} */
function argumentsOf(properties) {
  return { type: 'object', properties, required: ['categoryId'], additionalProperties: false };
}
