/** Arguments as models write them, in the form that the schema of a tool wants. */
import { beforeAll, describe, expect, it } from 'vitest';
import { coerce } from '../../../src/schemas/coerce.js';
import { SchemaValidator } from '../../../src/schemas/schema-validator.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const validator = new SchemaValidator();
beforeAll(() => validator.load());

const field = (schema: unknown, required: readonly string[] = []): Record<string, unknown> => ({
  type: 'object',
  properties: { a: schema },
  required,
});

function changesOf(value: unknown, schema: Record<string, unknown>): readonly string[] {
  return coerce(value, schema).changes.map(({ path, how }) => `${path} ${how}`);
}

const TREE = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    size: { type: 'integer' },
    children: { type: 'array', items: { $ref: '#' } },
  },
};

describe('a value becomes what the schema takes', () => {
  it.each<readonly [string, unknown, Record<string, unknown>, unknown]>([
    ['null of an optional field', { a: null }, field({ type: 'string' }), {}],
    ['null as text', { a: 'null' }, field({ type: 'integer' }), {}],
    [
      'null of a required field with a default',
      { a: null },
      field({ type: 'string', default: '' }, ['a']),
      {},
    ],
    ['null of an enum', { a: null }, field({ enum: ['x', 'y'] }), {}],
    [
      'null of a choice without null',
      { a: null },
      field({ anyOf: [{ type: 'string' }, { type: 'array' }] }),
      {},
    ],
    [
      'null behind a reference',
      { a: null },
      { ...field({ $ref: '#/$defs/n' }), $defs: { n: { type: 'number' } } },
      {},
    ],
    [
      'null in an object in a list',
      { a: [{ b: null, c: 1 }] },
      field({ type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } }),
      { a: [{ c: 1 }] },
    ],
    ['an integer as text', { a: '5' }, field({ type: 'integer' }), { a: 5 }],
    ['a number as text', { a: ' -2.5e3 ' }, field({ type: 'number' }), { a: -2_500 }],
    ['a number of an enum', { a: '2' }, field({ enum: [1, 2] }), { a: 2 }],
    ['a boolean as text', { a: 'True' }, field({ type: 'boolean' }), { a: true }],
    ['a list as text', { a: '["x"]' }, field({ type: 'array' }), { a: ['x'] }],
    [
      'a list of texts for numbers',
      { a: ['1', 2] },
      field({ type: 'array', items: { type: 'integer' } }),
      { a: [1, 2] },
    ],
    [
      'an object as text, with a null and a number as text in it',
      { a: '{"b":null,"c":"3","__proto__":1}' },
      field({ type: 'object', properties: { b: { type: 'string' }, c: { type: 'integer' } } }),
      { a: JSON.parse('{"c":3,"__proto__":1}') as unknown },
    ],
    ['text for a number or null', { a: '7' }, field({ type: ['integer', 'null'] }), { a: 7 }],
    [
      'text for one of several forms',
      { a: '7' },
      field({ anyOf: [{ type: 'boolean' }, { type: 'integer' }] }),
      { a: 7 },
    ],
    [
      'the form that needs no more than is wrong',
      { a: { kind: 'b', n: '1', o: null } },
      field({
        oneOf: [
          {
            type: 'object',
            properties: { kind: { const: 'a' }, n: { type: 'boolean' } },
            required: ['kind'],
          },
          {
            type: 'object',
            properties: { kind: { const: 'b' }, n: { type: 'integer' }, o: { type: 'string' } },
            required: ['kind'],
            additionalProperties: false,
          },
        ],
      }),
      { a: { kind: 'b', n: 1 } },
    ],
    [
      'parts of an allOf',
      { a: '1', b: null },
      { allOf: [field({ type: 'integer' }), { properties: { b: { type: 'string' } } }] },
      { a: 1 },
    ],
    [
      'fields that are named by nothing',
      { x: '1' },
      { type: 'object', additionalProperties: { type: 'integer' } },
      { x: 1 },
    ],
    [
      'items by their place',
      { a: ['1', '1'] },
      field({ type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] }),
      { a: [1, '1'] },
    ],
    [
      'a schema that refers to itself',
      { name: 'r', children: [{ name: 'c', size: '1', children: [{ size: null }] }] },
      TREE,
      { name: 'r', children: [{ name: 'c', size: 1, children: [{}] }] },
    ],
  ])('%s', (_, given, schema, wanted) => {
    const before = structuredClone(given);
    const { value, changes } = coerce(given, schema);
    expect(value).toEqual(wanted);
    expect(changes).not.toEqual([]);
    expect(given).toEqual(before);
    expect(validator.check(schema, value).kind).toBe('fits');
  });
});

describe('a value stays as it is', () => {
  it.each<readonly [string, unknown, Record<string, unknown>]>([
    ['null that the schema takes', { a: null }, field({ anyOf: [{ type: 'string' }, { type: 'null' }] })],
    ['null where anything goes', { a: null, b: null }, field({})],
    ['null of a required field', { a: null }, field({ type: 'string' }, ['a'])],
    ['null in a list', { a: [null] }, field({ type: 'array', items: { type: 'string' } })],
    ['text that looks like a number', { a: '5' }, field({ type: 'string' })],
    ['text that one form takes', { a: '[1]' }, field({ anyOf: [{ type: 'array' }, { type: 'string' }] })],
    ['a number where text is wanted', { a: 5 }, field({ type: 'string' })],
    ['a fraction where an integer is wanted', { a: '5.5' }, field({ type: 'integer' })],
    ['a number too long to be exact', { a: '12345678901234567890' }, field({ type: 'integer' })],
    ['a number too large', { a: '1e999' }, field({ type: 'number' })],
    ['text that holds another kind', { a: '{"b":1}' }, field({ type: 'array' })],
    ['text that holds nothing', { a: '' }, field({ type: 'integer' })],
    ['a word', { a: 'yes' }, field({ type: 'boolean' })],
    ['a broken JSON text', { a: '[1,' }, field({ type: 'array' })],
    [
      'a value without a form that it could fit',
      { a: { n: '1' } },
      field({ anyOf: [{ type: 'object', required: ['m'], properties: { n: { type: 'integer' } } }] }),
    ],
    ['a value beside an unknown reference', { a: '1' }, field({ $ref: 'https://example.org/schema' })],
    [
      'a value of its own way to JSON',
      { a: { toJSON: () => 1, b: null } },
      field({ properties: { b: { type: 'string' } } }),
    ],
  ])('%s', (_, given, schema) => {
    const { value, changes } = coerce(given, schema);
    expect(changes).toEqual([]);
    expect(value).toBe(given);
  });
});

it('Each change has the place in the value.', () => {
  const given = { 'x/y': null, a: ['1', '{"b":"2"}'] };
  const schema = {
    type: 'object',
    properties: {
      'x/y': { type: 'string' },
      a: { items: { type: ['integer', 'object'], properties: { b: { type: 'integer' } } } },
    },
  };
  expect(changesOf(given, schema)).toEqual(['/x~1y left-out', '/a/0 parsed', '/a/1 parsed', '/a/1/b parsed']);
});

it('A schema with a form within every form does not take long.', () => {
  const branching = { $ref: '#/$defs/f' };
  const schema = {
    type: 'object',
    properties: { a: branching },
    $defs: {
      f: {
        anyOf: Array.from({ length: 8 }, (_, index) => ({
          type: 'object',
          properties: { a: branching, [`k${index}`]: { type: 'integer' } },
          required: [`k${index}`],
        })),
      },
    },
  };
  let deep: unknown = 'end';
  for (let level = 0; level < 100; level += 1) deep = { a: deep };
  expect(coerce(deep, schema).changes).toEqual([]);
});

it('A value that refers to itself is left alone.', () => {
  const given: Record<string, unknown> = {};
  given['children'] = [given];
  expect(coerce(given, TREE)).toEqual({ value: given, changes: [] });
});
