import { describe, expect, it } from 'vitest';
import { schemaForModels, type ObjectSchema } from '../../../src/adapters/schema-for-models.js';
import type { CatalogTool } from '../../../src/catalog/registry.js';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';

function forModels(inputSchema: Record<string, unknown>): ObjectSchema {
  return schemaForModels({ inputSchema } as unknown as CatalogTool);
}

/** What an argument with this schema becomes. */
function argument(schema: unknown): unknown {
  return forModels({ type: 'object', properties: { a: schema } }).properties['a'];
}

describe('a schema of an older dialect, converted for a model', () => {
  it('has tuples in the syntax of 2020-12.', () => {
    const [x, y, z] = [{ type: 'number' }, { type: 'string' }, { type: 'boolean' }];
    const tuple = { type: 'array', minItems: 2, items: [x, y] };
    const { items: _, ...rest } = tuple;
    expect(argument(tuple)).toEqual({ ...rest, prefixItems: [x, y], items: {} });
    expect(argument({ ...tuple, additionalItems: z })).toEqual({ ...rest, prefixItems: [x, y], items: z });
    expect(argument({ ...tuple, additionalItems: false })).toEqual({
      ...rest,
      prefixItems: [x, y],
      items: false,
    });
    expect(argument({ ...tuple, items: [], additionalItems: false })).toEqual({ ...rest, items: false });
    expect(argument({ type: 'array', items: [tuple, { type: 'array' }] })).toEqual({
      type: 'array',
      prefixItems: [
        { ...rest, prefixItems: [x, y], items: {} },
        { type: 'array', items: {} },
      ],
      items: {},
    });
  });

  it('has no reference into a tuple, but the type of the target.', () => {
    const point = { type: 'object', properties: { x: { type: 'number' } } };
    const made = forModels({
      type: 'object',
      properties: {
        line: { type: 'array', items: [point, { $ref: '#/properties/line/items/0' }] },
        at: { $ref: '#/properties/line/items/0' },
      },
    });
    expect(made.properties).toEqual({
      line: { type: 'array', prefixItems: [point, { type: 'object', properties: {} }], items: {} },
      at: { type: 'object', properties: {} },
    });
  });

  it('has numeric exclusive limits.', () => {
    expect(argument({ minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false })).toEqual({
      exclusiveMinimum: 0,
      maximum: 9,
    });
    expect(argument({ maximum: 9, exclusiveMaximum: true, exclusiveMinimum: true })).toEqual({
      exclusiveMaximum: 9,
    });
  });

  it('has no keyword with an invalid value, and no duplicate names.', () => {
    const odd = { description: null, title: 1, pattern: null, minLength: '2', multipleOf: 0, examples: 'x' };
    const flags = { uniqueItems: 'yes', deprecated: null, maxItems: -1, minimum: null, format: {} };
    expect(argument({ ...odd, ...flags, default: null, 'x-order': 1 })).toEqual({
      default: null,
      'x-order': 1,
    });
    expect(argument({ type: ['string', 'string'], required: ['b', 'b'], description: '' })).toEqual({
      type: ['string'],
      required: ['b'],
      description: '',
    });
  });

  it('has no empty list of schemas and no invalid anchor.', () => {
    expect(argument({ type: 'array', prefixItems: [], anyOf: [], allOf: [], oneOf: [] })).toEqual({
      type: 'array',
      items: {},
    });
    const recursive = { $recursiveAnchor: true, $anchor: 1, $dynamicAnchor: null, $dynamicRef: {}, $id: 2 };
    expect(argument({ ...recursive, $recursiveRef: '#' })).toEqual({ $recursiveRef: '#' });
    expect(forModels({ type: 'object', anyOf: [] })).toEqual({ type: 'object', properties: {} });
  });

  it('has no $schema of an older dialect.', () => {
    const schema = { type: 'object', properties: {} };
    expect(forModels({ ...schema, $schema: DRAFT_7 })).toEqual(schema);
    const newest = { ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema' };
    expect(forModels(newest)).toEqual(newest);
  });
});
