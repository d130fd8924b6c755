import { describe, expect, it } from 'vitest';
import { findDanglingRef } from '../../../src/schemas/invalid-schema.js';

const ROW = { type: 'object' };

describe('a reference that points nowhere', () => {
  it.each([
    { where: 'in a property', schema: { properties: { row: { $ref: '#/$defs/Row' } } } },
    { where: 'beside other definitions', schema: { $ref: '#/$defs/Row', $defs: { Column: ROW } } },
    { where: 'in the items of a list', schema: { properties: { rows: { items: { $ref: '#/$defs/Row' } } } } },
    { where: 'in one branch of a choice', schema: { anyOf: [ROW, { $ref: '#/$defs/Row' }], $defs: {} } },
    { where: 'in a definition', schema: { $defs: { Table: { $ref: '#/$defs/Row' } } } },
    {
      where: 'in a definition of the old style',
      schema: { definitions: { Table: { $ref: '#/$defs/Row' } } },
    },
    { where: 'at something that is not a schema', schema: { $ref: '#/$defs/Row', $defs: { Row: 'a row' } } },
    { where: 'at an inherited property', schema: { $ref: '#/__proto__' }, ref: '#/__proto__' },
    { where: 'through text', schema: { $ref: '#/title/length', title: 'x' }, ref: '#/title/length' },
    { where: 'past the end of a list', schema: { $ref: '#/anyOf/1', anyOf: [ROW] }, ref: '#/anyOf/1' },
    {
      where: 'with broken percent encoding',
      schema: { $ref: '#/%E0%A4%A', '%E0%A4%A': ROW },
      ref: '#/%E0%A4%A',
    },
    {
      where: 'outside the subschema that has its own id',
      schema: {
        $defs: { Row: ROW, Table: { $id: 'https://example.org/table', items: { $ref: '#/$defs/Row' } } },
      },
    },
  ])('is found $where', ({ schema, ref = '#/$defs/Row' }) => {
    expect(findDanglingRef(schema)).toBe(ref);
  });

  it.each(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])(
    'is found under a name in %s that is also a keyword for data',
    (keyword) => {
      expect(findDanglingRef({ [keyword]: { default: { $ref: '#/nowhere' } } })).toBe('#/nowhere');
    },
  );

  it.each([
    { what: 'a schema without references', schema: { type: 'object', properties: { a: true } } },
    { what: 'a reference to a definition', schema: { $ref: '#/$defs/Row', $defs: { Row: ROW } } },
    { what: 'a reference to a boolean schema', schema: { $ref: '#/$defs/Any', $defs: { Any: true } } },
    { what: 'a reference to the root', schema: { properties: { child: { $ref: '#' } } } },
    {
      what: 'definitions that refer to each other',
      schema: { $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } } },
    },
    { what: 'a reference into a list', schema: { $ref: '#/anyOf/0', anyOf: [ROW] } },
    { what: 'an escaped slash and tilde', schema: { $ref: '#/$defs/a~1b~0c', $defs: { 'a/b~c': ROW } } },
    { what: 'an escaped tilde before a digit', schema: { $ref: '#/$defs/~01', $defs: { '~1': ROW } } },
    { what: 'percent encoding', schema: { $ref: '#/$defs/a%20b', $defs: { 'a b': ROW } } },
    { what: 'an anchor', schema: { $ref: '#row', $defs: { Row: { $anchor: 'row' } } } },
    { what: 'another document', schema: { $ref: 'https://example.org/row.json#/$defs/Row' } },
    { what: 'a property named $ref', schema: { properties: { $ref: { type: 'string' } } } },
    {
      what: 'a property named $ref whose schema is not a schema',
      schema: { properties: { $ref: '#/nowhere' } },
    },
    { what: 'data in a default', schema: { properties: { row: { default: { $ref: '#/nowhere' } } } } },
    { what: 'data in a constant', schema: { const: { $ref: '#/nowhere' } } },
    { what: 'data in an enumeration', schema: { enum: [{ $ref: '#/nowhere' }] } },
    { what: 'data in examples', schema: { examples: [{ $ref: '#/nowhere' }] } },
    { what: 'properties that are not an object', schema: { properties: [null, 7] } },
    {
      what: 'a reference within the subschema that has its own id',
      schema: { $defs: { T: { $id: 'https://example.org/t', $ref: '#/$defs/Row', $defs: { Row: ROW } } } },
    },
    {
      what: 'an id that is only an anchor of an older draft',
      schema: { $defs: { Row: ROW }, properties: { t: { $id: '#t', items: { $ref: '#/$defs/Row' } } } },
    },
  ])('is not found in $what', ({ schema }) => {
    expect(findDanglingRef(schema)).toBeUndefined();
  });
});
