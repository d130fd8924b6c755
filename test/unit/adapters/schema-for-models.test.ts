import { describe, expect, it } from 'vitest';
import { schemaForModels, type ObjectSchema } from '../../../src/adapters/schema-for-models.js';
import type { CatalogTool } from '../../../src/catalog/registry.js';

function forModels(inputSchema: Record<string, unknown>): ObjectSchema {
  return schemaForModels({ inputSchema } as unknown as CatalogTool);
}

describe('the schema that a model gets', () => {
  it('is that of the tool if every provider accepts it.', () => {
    const schema = {
      type: 'object',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: {
        a: { anyOf: [{ type: 'string' }, { type: 'null' }], default: { type: 'array' } },
        b: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
        c: { enum: [{ type: 'object' }], const: { type: 'array' } },
      },
      required: ['a'],
      additionalProperties: false,
    };
    expect(forModels(schema)).toEqual(schema);
  });

  it('is created once for each schema, which is not changed.', () => {
    const inputSchema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ type: 'array' }) }),
    });
    const made = forModels(inputSchema);
    expect(forModels(inputSchema)).toBe(made);
    expect(made).toEqual({ type: 'object', properties: { a: { type: 'array', items: {} } } });
    expect(inputSchema.properties.a).toEqual({ type: 'array' });
  });

  it('has properties in every object and items in every array, in every place for a schema.', () => {
    const bare = { type: 'object' };
    const full = { type: 'object', properties: {} };
    const list = { type: 'array' };
    const fullList = { type: 'array', items: {} };
    const schema = (object: unknown, array: unknown): Record<string, unknown> => ({
      type: 'object',
      properties: {
        a: { type: 'array', items: object },
        b: { oneOf: [object, array], not: object },
        c: {
          type: 'object',
          properties: { d: array },
          additionalProperties: object,
          patternProperties: { x: array },
        },
        e: { if: object, else: array, contains: array, propertyNames: object },
        f: { type: 'array', prefixItems: [object, array], items: array },
        g: { dependencies: { a: object, b: ['a'] }, unevaluatedProperties: array, unevaluatedItems: object },
      },
      $defs: { g: object },
      definitions: { h: array },
      dependentSchemas: { a: object },
    });
    const expected = schema(full, fullList) as { properties: { b: unknown } };
    expect(forModels(schema(bare, list))).toMatchObject(expected);
  });

  it('has items in a tuple, and both if a type is one of several.', () => {
    const properties = {
      pair: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], maxItems: 2 },
      any: { type: ['string', 'array', 'object'] },
    };
    expect(forModels({ type: 'object', properties }).properties).toEqual({
      pair: { ...properties.pair, items: {} },
      any: { ...properties.any, items: {}, properties: {} },
    });
  });

  it('replaces a top-level choice by properties and a description.', () => {
    const made = forModels({
      type: 'object',
      description: 'Where to.',
      properties: { how: { type: 'string' } },
      anyOf: [{ required: ['route'], properties: { route: { type: 'string' } } }, { $ref: '#/$defs/File' }],
      $defs: { File: { properties: { file: { type: 'string' }, how: { type: 'number' } } } },
      required: ['how'],
    });
    expect(made).toEqual({
      type: 'object',
      description: expect.stringMatching(
        /^Where to\. The arguments must also fit this JSON Schema: \{"anyOf":\[/,
      ),
      properties: { how: { type: 'string' }, route: { type: 'string' }, file: { type: 'string' } },
      $defs: { File: { properties: { file: { type: 'string' }, how: { type: 'number' } } } },
      required: ['how'],
    });
  });

  it.each(['anyOf', 'oneOf', 'allOf', 'not', 'enum'])(
    'has no top-level %s, even an invalid one.',
    (keyword) => {
      for (const value of [[], {}, 'text', null, [null, 1, { properties: 3 }, { $ref: '#/nowhere' }]]) {
        const made = forModels({ type: 'object', [keyword]: value });
        expect(made).not.toHaveProperty(keyword);
        expect(made.properties).toEqual({});
      }
    },
  );

  it('describes properties whose names a provider refuses, and does not forbid them.', () => {
    const $filter = { type: 'string' };
    const made = forModels({
      type: 'object',
      properties: { $filter, '': {}, 'a b': {}, ['x'.repeat(65)]: {}, 'Top.1_a-b': { type: 'integer' } },
      required: ['$filter', 'Top.1_a-b'],
      additionalProperties: false,
    });
    expect(made).toEqual({
      type: 'object',
      description: expect.stringMatching(/^The arguments must also fit this JSON Schema: \{"properties":\{/),
      properties: { 'Top.1_a-b': { type: 'integer' } },
      required: ['Top.1_a-b'],
    });
    expect(made['description']).toContain('"$filter":{"type":"string"}');
    expect(made['description']).toContain('"required":["$filter"]');
    const nested = { type: 'object', properties: { a: { type: 'object', properties: { $filter } } } };
    expect(forModels(nested)).toEqual(nested);
  });

  it('has a union of types for an argument with several choices.', () => {
    const made = forModels({
      type: 'object',
      oneOf: [
        {
          properties: {
            action: { type: 'string', const: 'create' },
            title: { type: 'string' },
            level: { enum: [1, 2] },
            by: { $ref: '#/$defs/Who' },
            size: { type: 'string', description: 'With a unit.' },
            mode: { type: 'string', const: 'a', description: 'Careful.' },
            never: false,
            always: { type: 'string' },
            data: { const: {} },
          },
        },
        {
          properties: {
            action: { const: 'update', type: 'string' },
            id: { type: 'number' },
            title: { maxLength: 10, type: 'string' },
            level: { const: null },
            by: { $ref: '#/$defs/Who' },
            size: { type: 'number' },
            mode: { type: 'string', const: 'b' },
            never: { type: 'null' },
            always: true,
            data: { const: [] },
          },
        },
        {
          properties: {
            action: { type: 'string', enum: ['delete', 'create'] },
            id: { type: 'string' },
            title: { type: 'string' },
          },
        },
      ],
      $defs: { Who: { type: 'string' } },
    });
    expect(made.properties).toEqual({
      action: { type: 'string', enum: ['create', 'update', 'delete'] },
      id: { anyOf: [{ type: 'number' }, { type: 'string' }] },
      title: {
        anyOf: [{ type: 'string' }, { type: 'string', maxLength: 10 }],
      },
      level: { enum: [1, 2, null] },
      by: { $ref: '#/$defs/Who' },
      size: { anyOf: [{ type: 'string', description: 'With a unit.' }, { type: 'number' }] },
      mode: {
        anyOf: [
          { type: 'string', const: 'a', description: 'Careful.' },
          { type: 'string', const: 'b' },
        ],
      },
      never: { type: 'null' },
      always: true,
      data: { anyOf: [{ const: {} }, { const: [] }] },
    });
  });

  it('has arguments from nested choices and references, even circular ones.', () => {
    const nested = {
      allOf: [{ anyOf: [{ properties: { a: {} } }, { oneOf: [{ properties: { b: {} } }] }] }],
    };
    expect(forModels({ type: 'object', ...nested }).properties).toEqual({ a: {}, b: {} });
    const $defs = {
      A: { allOf: [{ $ref: '#/$defs/odd~1name%3CB%3E' }], properties: { a: {} } },
      'odd/name<B>': { anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#' }], properties: { b: {} } },
    };
    for (const way of [{ anyOf: [{ $ref: '#/$defs/A' }] }, { $ref: '#/$defs/odd~1name%3CB%3E' }])
      expect(forModels({ type: 'object', ...way, $defs }).properties).toEqual({ a: {}, b: {} });
  });

  it('keeps a top-level reference beside the arguments that it names.', () => {
    const $defs = { A: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] } };
    const schema = { type: 'object', $ref: '#/$defs/A', $defs };
    expect(forModels(schema)).toEqual({ ...schema, properties: { q: { type: 'string' } } });
  });

  it('is created for a chain of ten thousand references, and as many to one target.', () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, {}]));
    const links = Array.from({ length: 10_000 }, (_, index) => [
      `d${index}`,
      { anyOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: '#/$defs/wide' }] },
    ]);
    const $defs = {
      ...Object.fromEntries(links),
      d10000: { properties: { end: {} } },
      wide: { properties: wide },
    };
    const { properties } = forModels({ type: 'object', anyOf: [{ $ref: '#/$defs/d0' }], $defs });
    expect(Object.keys(properties)).toHaveLength(5_001);
    expect(properties).toHaveProperty('end');
  });

  it('forbids no argument that a choice allowed.', () => {
    const anyOf = [{ patternProperties: { '^x-': {} } }];
    expect(forModels({ type: 'object', anyOf, unevaluatedProperties: false })).not.toHaveProperty(
      'unevaluatedProperties',
    );
    const kept = { type: 'object', properties: {}, unevaluatedProperties: false };
    expect(forModels(kept)).toEqual(kept);
  });

  it('has no reference to a removed choice or name, but the type of the target.', () => {
    const place = { type: 'object', properties: { city: { type: 'string' } } };
    const made = forModels({
      type: 'object',
      properties: {
        $top: { type: 'integer' },
        last: { $ref: '#/properties/$top', description: 'The last.' },
      },
      anyOf: [
        { properties: { from: place } },
        { properties: { to: { type: 'array', items: { $ref: '#/anyOf/0/properties/from' } } } },
        { properties: { back: { $ref: '#/anyOf/1/properties/to' } } },
        { properties: { city: { $ref: '#/anyOf/0/properties/from/properties/city' }, all: { $ref: '#' } } },
      ],
    });
    expect(made.properties).toEqual({
      last: { type: 'integer', description: 'The last.' },
      from: place,
      to: { type: 'array', items: { type: 'object', properties: {} } },
      back: { type: 'array', items: {} },
      city: { type: 'string' },
      all: { $ref: '#' },
    });
  });

  it('describes a rule that is too long by its arguments.', () => {
    const choice = (action: string): Record<string, unknown> => ({
      properties: { action: { const: action }, [action]: { description: 'word '.repeat(400) }, both: {} },
      required: ['action', 'more'],
    });
    const words = 'The arguments must also fit a JSON Schema that is too long to be shown.';
    const about = `${words} These are the arguments that it is about:`;
    const oneOf = [choice('create'), { $ref: '#/$defs/Delete' }];
    const $defs = { Delete: choice('delete') };
    expect(forModels({ type: 'object', oneOf, $defs, description: 'Long.' }).description).toBe(
      `Long. ${about} one of (action = "create", more, create, both), (action = "delete", more, delete, both)`,
    );
    const allOf = [{ anyOf: [choice('a'), { required: ['b'] }] }];
    expect(forModels({ type: 'object', allOf, anyOf: [{}] }).description).toBe(`${about} action, a, both`);
    expect(
      forModels({ type: 'object', oneOf, allOf, anyOf: [{ required: ['a'] }, {}], $defs }).description,
    ).toMatch(/ any of \(a\), \(\); and one of \(action = "create", /);
    const not = { required: ['x'.repeat(2_000)] };
    expect(forModels({ type: 'object', not }).description).toBe(words);
    const properties = { $filter: { description: 'x'.repeat(2_000) }, b: {} };
    expect(forModels({ type: 'object', properties, required: ['$filter'] }).description).toBe(
      `${about} $filter`,
    );
  });

  it('describes a rule in at most two thousand characters.', () => {
    const anyOf = Array.from({ length: 500 }, (_, index) => ({ required: [`field-${index}`] }));
    const { description } = forModels({ type: 'object', anyOf, description: 'Long.' });
    expect(description).toMatch(/^Long\. The arguments .* any of \(field-0\), \(field-1\), .* … /);
    expect(String(description).length).toBeLessThan(2_100);
  });

  it('may have names of inherited properties.', () => {
    const properties = JSON.parse('{"__proto__":{"type":"array"},"constructor":{"type":"object"}}') as object;
    const made = forModels({
      type: 'object',
      allOf: [{ properties }],
      $defs: JSON.parse('{"__proto__":{}}'),
    });
    expect(JSON.stringify(made.properties)).toBe(
      '{"__proto__":{"type":"array","items":{}},"constructor":{"type":"object","properties":{}}}',
    );
    expect(forModels({ type: 'object', anyOf: [{ $ref: '#/$defs/toString' }] }).properties).toEqual({});
  });
});

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';

function inNewestDialect(inputSchema: Record<string, unknown>): ObjectSchema {
  return schemaForModels({ inputSchema } as unknown as CatalogTool);
}

/** What an argument with this schema becomes. */
function argument(schema: unknown): unknown {
  return inNewestDialect({ type: 'object', properties: { a: schema } }).properties['a'];
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
    const made = inNewestDialect({
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
    expect(inNewestDialect({ type: 'object', anyOf: [] })).toEqual({ type: 'object', properties: {} });
  });

  it('has no $schema of an older dialect.', () => {
    const schema = { type: 'object', properties: {} };
    expect(inNewestDialect({ ...schema, $schema: DRAFT_7 })).toEqual(schema);
    const newest = { ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema' };
    expect(inNewestDialect(newest)).toEqual(newest);
  });
});
