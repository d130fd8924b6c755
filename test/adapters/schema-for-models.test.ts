import { describe, expect, it } from 'vitest';
import { schemaForModels, type ObjectSchema } from '../../src/adapters/schema-for-models.js';
import type { CatalogTool } from '../../src/catalog/registry.js';

function forModels(inputSchema: Record<string, unknown>): ObjectSchema {
  return schemaForModels({ inputSchema } as unknown as CatalogTool);
}

describe('the schema that a model is given', () => {
  it('is the own one of the tool where no provider minds it.', () => {
    const schema = {
      type: 'object',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: {
        a: { anyOf: [{ type: 'string' }, { type: 'null' }], default: { type: 'array' } },
        b: { type: 'array', prefixItems: [{ type: 'string' }] },
        c: { enum: [{ type: 'object' }], const: { type: 'array' } },
      },
      required: ['a'],
      additionalProperties: false,
    };
    expect(forModels(schema)).toEqual(schema);
  });

  it('is made once for each schema, and leaves that as it is.', () => {
    const inputSchema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ type: 'array' }) }),
    });
    const made = forModels(inputSchema);
    expect(forModels(inputSchema)).toBe(made);
    expect(made).toEqual({ type: 'object', properties: { a: { type: 'array', items: {} } } });
    expect(inputSchema.properties.a).toEqual({ type: 'array' });
  });

  it('has properties in every object and items in every array, wherever a schema may stand.', () => {
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
        f: { type: 'array', prefixItems: [object, array] },
      },
      $defs: { g: object },
      definitions: { h: array },
      dependentSchemas: { a: object },
    });
    const expected = schema(full, fullList) as { properties: { b: unknown } };
    expect(forModels(schema(bare, list))).toMatchObject(expected);
  });

  it('turns a choice at the top into properties and words.', () => {
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
    'has no %s at the top, however odd it is.',
    (keyword) => {
      for (const value of [[], {}, 'text', null, [null, 1, { properties: 3 }, { $ref: '#/nowhere' }]]) {
        const made = forModels({ type: 'object', [keyword]: value });
        expect(made).not.toHaveProperty(keyword);
        expect(made.properties).toEqual({});
      }
    },
  );

  it('has the properties whose names a provider refuses as words, and does not forbid them.', () => {
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

  it('says nothing of a choice that is too long for words.', () => {
    const anyOf = Array.from({ length: 500 }, (_, index) => ({ required: [`field-${index}`] }));
    expect(forModels({ type: 'object', anyOf, description: 'Long.' }).description).toBe('Long.');
    expect(forModels({ type: 'object', anyOf: [...anyOf] })).not.toHaveProperty('description');
  });

  it('takes names that objects have by nature for names.', () => {
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
