import { describe, expect, it } from 'vitest';
import { docComment, keyText, typeName, typesOf } from '../../../src/schemas/type-text.js';
import { uniqueNames } from '../../../src/catalog/tool-types.js';

function written(schema: unknown, isWritten = true): readonly string[] {
  const subject = { name: 'A', isWritten, claim: uniqueNames(['A']), hasDocs: true };
  return typesOf(schema as never, subject).map(({ name, text }) => `${name} = ${text}`);
}

/** The type of a required field on one line. */
function typeOf(schema: unknown, isWritten = true): string {
  const [text = ''] = written({ properties: { a: schema }, required: ['a'] }, isWritten);
  return text.replaceAll(/\s+/g, ' ').replace(/^A = \{ a: (.*); \}$/, '$1');
}

describe('the type of a schema', () => {
  it.each([
    [true, 'unknown'],
    [{}, 'unknown'],
    [false, 'never'],
    ['nonsense', 'unknown'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'strange' }, 'unknown'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: ['string', 'strange'] }, 'unknown'],
    [{ const: 'x */ "' }, '"x */ \\""'],
    [{ const: null }, 'null'],
    [{ enum: ['a', 2, false, 'a'] }, '"a" | 2 | false'],
    [{ enum: [] }, 'never'],
    [{ enum: [{ a: 1 }, [1]] }, 'object | readonly unknown[]'],
    [{ enum: Array.from({ length: 2_000 }, (_, at) => at) }, 'number'],
    [{ type: 'array' }, 'readonly unknown[]'],
    [{ items: { type: ['string', 'null'] } }, 'readonly (string | null)[]'],
    [{ prefixItems: [{ type: 'string' }, {}], minItems: 1 }, 'readonly [string, unknown?, ...unknown[]]'],
    [{ items: [{ type: 'string' }], additionalItems: false }, 'readonly [string?]'],
    [{ type: 'object' }, '{ [name: string]: unknown; }'],
    [{ type: 'object', properties: {} }, '{ [name: string]: never; }'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [name: string]: number; }'],
    [
      { properties: { b: {} }, additionalProperties: { type: 'number' } },
      '{ b?: unknown; [name: string]: unknown; }',
    ],
    [
      { patternProperties: { '^a': { type: 'string' } }, additionalProperties: false },
      '{ [name: string]: string; }',
    ],
    [{ required: ['b'] }, '{ b: unknown; }'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [{ anyOf: [{ type: 'string' }, true] }, 'unknown'],
    [{ oneOf: 'wrong', type: 'string' }, 'string'],
    [{ allOf: [{ type: 'string' }, true] }, 'string'],
    [{ allOf: [{ type: 'string' }, false] }, 'never'],
    [{ $ref: '#/properties/b' }, 'unknown'],
    [{ $ref: 'https://example.com/schema.json' }, 'unknown'],
    [{ $ref: 'file:///etc/hostname' }, 'unknown'],
    [{ $dynamicRef: '#node' }, 'unknown'],
    [{ tsType: 'string; evil' }, 'unknown'],
  ])('of %j is %s.', (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it('has no fields that exclude those of a schema beside it.', () => {
    const empty = { type: 'object', properties: {} };
    const named = { properties: { a: {} } };
    const open = '({ [name: string]: unknown; }) & ({ a?: unknown; })';
    expect(typeOf({ ...empty, allOf: [named] })).toBe(open);
    expect(typeOf({ allOf: [empty, named] })).toBe(open);
    expect(typeOf({ ...empty, anyOf: [named] })).toBe(open);
    expect(typeOf(empty, false)).toBe('{ [name: string]: unknown; }');
    const [, ...referredTo] = written({ $ref: '#/$defs/empty', ...named, $defs: { empty } });
    expect(referredTo).toEqual(['AEmpty = {\n  [name: string]: unknown;\n}']);
  });

  it('groups what TypeScript would read in another order.', () => {
    const schema = {
      type: 'object',
      properties: { x: {} },
      anyOf: [{ required: ['y'] }, { required: ['z'] }],
    };
    expect(typeOf(schema)).toBe('({ x?: unknown; }) & ({ y: unknown; } | { z: unknown; })');
    expect(typeOf({ items: schema })).toBe(
      'readonly (({ x?: unknown; }) & ({ y: unknown; } | { z: unknown; }))[]',
    );
  });

  it('lets a field with a default be missing if the host writes the value, as the validation does.', () => {
    const schema = { properties: { b: { type: 'number', default: 1 } }, required: ['b'] };
    expect(typeOf(schema)).toBe('{ b?: number | undefined; }');
    expect(typeOf(schema, false)).toBe('{ b: number; }');
  });

  it('names what it refers to, once.', () => {
    const node = { properties: { next: { $ref: '#/$defs/node' }, root: { $ref: '#' } } };
    expect(
      written({ properties: { a: { $ref: '#/$defs/node' } }, $defs: { node } }, false).map((text) =>
        text.replaceAll(/\s+/g, ' '),
      ),
    ).toEqual(['A = { a?: ANode; }', 'ANode = { next?: ANode; root?: A; }']);
  });

  it('never consists of itself alone.', () => {
    const $defs = {
      one: { anyOf: [{ $ref: '#/$defs/two' }, { type: 'string' }] },
      two: { oneOf: [{ $ref: '#/$defs/one' }, { type: 'number' }] },
      self: { $ref: '#/$defs/self' },
    };
    const properties = { one: { $ref: '#/$defs/one' }, self: { $ref: '#/$defs/self' } };
    const [, ...others] = written({ properties, $defs }, false);
    expect(others).toEqual(['AOne = unknown', 'ASelf = unknown']);
  });

  it('stays small, however deep the schema is and however often it refers to itself.', () => {
    let deep: object = {};
    for (let level = 0; level < 1_000; level += 1) deep = { properties: { a: deep } };
    expect(written(deep).join('').length).toBeLessThan(10_000);
    const $defs = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [
        `d${at}`,
        { properties: { l: { $ref: `#/$defs/d${at + 1}` }, r: { $ref: `#/$defs/d${at + 1}` } } },
      ]),
    );
    expect(written({ $ref: '#/$defs/d0', $defs }).join('').length).toBeLessThan(20_000);
  });
});

describe('the texts of a server', () => {
  it('do not leave a comment.', () => {
    expect(docComment('ends */ here')).toBe('/** ends *\\/ here */\n');
    expect(docComment('one\r\ntwo\rthree\u2028four')).toBe('/**\n * one\n * two\n * three\n * four\n */\n');
    expect(docComment('\u202Ehidden\u200B')).toBe('/** \\u{202e}hidden\\u{200b} */\n');
    expect(docComment('  \n ')).toBe('');
    expect(docComment('*'.repeat(9) + '/')).not.toMatch(/\*\/./);
  });

  it('do not leave the key of a field.', () => {
    expect(keyText('__proto__')).toBe('__proto__');
    expect(keyText('read-file')).toBe('"read-file"');
    expect(keyText('"]: x\u2028')).toBe('"\\"]: x\\u2028"');
  });

  it('become names of types.', () => {
    expect(typeName('my-server', 'read_file', 'output')).toBe('MyServerReadFileOutput');
    expect(typeName('1', '💥')).toBe('T1');
    expect(typeName('größe', '読む')).toBe('Größe読む');
  });
});
