import { dereference, type Schema } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { longestChain } from '../../../src/schemas/json-schema.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

function chainOf(given: unknown, most = 10): number {
  const schema = given as Schema;
  return longestChain(schema, dereference(schema), most);
}

describe('the chain of subschemas for one value', () => {
  it.each([
    ['none', { type: 'object' }, 1],
    ['steps into the value', { properties: { a: { items: { type: 'string' } } } }, 1],
    ['a recursion that steps into the value', { items: { $ref: '#' } }, 2],
    ['alternatives', { anyOf: [{ type: 'string' }, { not: { type: 'null' } }] }, 3],
    ['references', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: {} } }, 3],
    ['schemas of dependencies', { dependentSchemas: { a: { allOf: [{}] } } }, 3],
    ['a list of dependencies', { dependencies: { a: ['b'] } }, 1],
  ])('is counted: %s', (_, schema, length) => {
    expect(chainOf(schema)).toBe(length);
  });

  it.each([
    ['a schema refers to itself', { $ref: '#' }],
    ['two refer to each other', { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#' }] } } }],
    ['it happens below the root', { items: { anyOf: [{ $ref: '#/items' }] } }],
    ['by the older keyword', { $recursiveRef: '#' }],
  ])('has no end if %s', (_, schema) => {
    expect(() => chainOf(schema)).toThrow(/without end/);
  });

  it('has a limit', () => {
    const links = Array.from({ length: 3_000 }, (_, n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }]);
    const schema = { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(links), d3000: {} } };
    expect(() => chainOf(schema, 128)).toThrow(/128 schemas/);
  });
});
