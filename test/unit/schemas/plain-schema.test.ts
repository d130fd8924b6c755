/** The quick check of a value never accepts more than the validator does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepareSchema } from '../../../src/schemas/json-schema.js';
import { plainSchema } from '../../../src/schemas/plain-schema.js';
import { useLeakCheck } from '../../support/leak-check.js';

const TOOL = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    path: { type: 'string', description: 'A file.' },
    limit: { type: 'integer', minimum: 1, maximum: 10 },
    mode: { type: 'string', enum: ['text', 'bytes'] },
    lines: { type: 'array', items: { type: 'number' } },
    more: { type: 'object', properties: { deep: { type: 'boolean' } }, additionalProperties: false },
  },
  required: ['path'],
  additionalProperties: false,
};

describe('a plain schema', () => {
  useLeakCheck();

  const fits = plainSchema(TOOL, false);

  it.each([
    [{ path: 'a' }],
    [{ path: 'a', limit: 10, mode: 'bytes', lines: [1, 2.5], more: { deep: true } }],
    [{ path: 'a', limit: undefined }],
  ])('accepts %j without the validator', (value) => {
    expect(fits?.(value)).toBe(true);
  });

  it.each([
    ['a missing field', {}],
    ['a field that JSON omits', { path: undefined }],
    ['an inherited field', Object.create({ path: 'a' })],
    ['a field of another type', { path: 1 }],
    ['a number out of range', { path: 'a', limit: 11 }],
    ['a number that JSON cannot represent', { path: 'a', lines: [NaN] }],
    ['a value outside an enum', { path: 'a', mode: 'Text' }],
    ['an additional field', { path: 'a', other: 1 }],
    ['an additional nested field', { path: 'a', more: { other: 1 } }],
    ['a list with holes', { path: 'a', lines: Object.assign([], { length: 2 }) }],
    ['an object with toJSON', { path: 'a', toJSON: () => ({}) }],
    ['an instance of a class', { path: 'a', more: new Date(0) }],
  ])('leaves %s to the validator', (_, value) => {
    expect(fits?.(value)).toBe(false);
  });

  it.each([
    ['another keyword', { type: 'object', minProperties: 1 }],
    ['another nested keyword', { type: 'object', properties: { a: { type: 'string', minLength: 1 } } }],
    ['a reference', { type: 'object', properties: { a: { $ref: '#' } } }],
    ['several types', { type: ['object', 'null'] }],
    ['an enum of objects', { type: 'object', enum: [{ a: 1 }] }],
    ['a list of schemas for items', { type: 'array', items: [{ type: 'string' }] }],
    ['an exclusive limit', { type: 'number', minimum: 1, exclusiveMinimum: true }],
    ['an unknown type', { type: 'constructor' }],
    ['no type', { properties: {} }],
    ['an unknown dialect', { $schema: 'urn:mine', type: 'object' }],
  ])('does not exist with %s', (_, schema) => {
    expect(plainSchema(schema, false)).toBeUndefined();
  });

  it('does not exist for a format that is checked', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', format: 'email' } } };
    expect(plainSchema(schema, true)).toBeUndefined();
    expect(plainSchema(schema, false)?.({ a: 'b' })).toBe(true);
  });

  it('accepts nothing that the validator would refuse', () => {
    const scalar = fc.oneof(
      fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null') }),
      fc.record({ type: fc.constant('string'), enum: fc.array(fc.constantFrom('', 'a', 'b')) }),
      fc.record({ type: fc.constantFrom('number', 'integer'), minimum: fc.integer({ min: -2, max: 2 }) }),
    );
    const name = fc.constantFrom('a', 'b', '__proto__', 'toString');
    const schemas = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        scalar,
        fc.record({ type: fc.constant('array'), items: tie('schema') }),
        fc.record(
          {
            type: fc.constant('object'),
            properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
            required: fc.uniqueArray(name),
            additionalProperties: fc.boolean(),
          },
          { requiredKeys: ['type'] },
        ),
      ),
    })).schema;
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>('', 'a', 1, 1.5, -3, true, null, undefined, NaN, new Date(0)),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    let passed = 0;
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        if (plainSchema(schema, false)?.(value) !== true) return;
        passed += 1;
        expect(prepareSchema(JSON.stringify(schema), false)(JSON.stringify(value))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
    expect(passed).toBeGreaterThan(50);
  });
});
