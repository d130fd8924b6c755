/** How values are checked against a schema of a server, how problems are reported, and what a hostile schema can do. */
import { beforeAll, describe, expect, it } from 'vitest';
import { SchemaValidator, type Verdict } from '../../../src/schemas/schema-validator.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const validator = new SchemaValidator();
const withFormats = new SchemaValidator({ formats: true });
beforeAll(() => Promise.all([validator.load(), withFormats.load()]));

function problems(verdict: Verdict): readonly string[] {
  if (verdict.kind !== 'misfit') return [verdict.kind];
  return verdict.problems.map(({ path, message }) => `${path} ${message}`);
}

const FILE = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    limit: { type: 'integer', minimum: 1 },
    mode: { enum: ['text', 'bytes'] },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    edits: { type: 'array', items: { $ref: '#/$defs/edit' }, maxItems: 2 },
  },
  required: ['path'],
  additionalProperties: false,
  $defs: { edit: { type: 'object', required: ['old', 'new'], properties: { old: { type: 'string' } } } },
};

describe('a value', () => {
  it.each<readonly [string, unknown, readonly string[]]>([
    ['fits', { path: 'a', limit: 2, mode: 'text', note: null, edits: [{ old: '', new: 1 }] }, ['fits']],
    ['lacks a property', {}, ['/path is missing']],
    ['has a wrong type', { path: 7 }, ['/path must be of type string']],
    ['has a wrong type for every form', { path: 'a', note: 7 }, ['/note must be of type string or null']],
    ['has an additional property', { path: 'a', 'x/y~z': 1 }, ['/x~1y~0z is not allowed']],
    [
      'is out of range',
      { path: '', limit: 0 },
      ['/path must have at least 1 characters', '/limit must be at least 1'],
    ],
    ['is not in an enum', { path: 'a', mode: 'hex' }, ['/mode must be one of "text", "bytes"']],
    [
      'has nested problems',
      { path: 'a', edits: [{ old: 1 }] },
      ['/edits/0/new is missing', '/edits/0/old must be of type string'],
    ],
    [
      'has too many items',
      { path: 'a', edits: [1, 2, 3].map(() => ({ old: '', new: '' })) },
      ['/edits must have at most 2 items'],
    ],
  ])('that %s is reported with its position and the expected value', (_, value, expected) => {
    expect(problems(validator.check(FILE, value))).toEqual(expected);
  });

  it.each<readonly [string, unknown, readonly string[]]>([
    ['lacks a property of its form', { action: 'create' }, ['/title is missing']],
    [
      'has an additional property for its form',
      { action: 'delete', id: 1, all: true },
      ['/all is not allowed'],
    ],
    ['has a nested form', { action: 'move', to: { kind: 'b' } }, ['/to/y is missing']],
    [
      'matches none of the forms',
      { action: 'make' },
      [
        ' must have exactly one of the allowed forms',
        '/title is missing',
        '/action must be "create"',
        '/id is missing',
        '/action must be "delete"',
        '/to is missing',
        '/action must be one of "move"',
      ],
    ],
  ])('that %s is reported with what its intended form requires', (_, value, expected) => {
    const form = (properties: object): object => ({
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    });
    const to = {
      anyOf: [
        { $ref: '#/$defs/place' },
        { type: 'string' },
        form({ kind: { const: 'b' }, y: { type: 'number' } }),
      ],
    };
    const schema = {
      type: 'object',
      oneOf: [
        form({ action: { const: 'create' }, title: { type: 'string' } }),
        form({ action: { const: 'delete' }, id: { type: 'integer' } }),
        form({ action: { enum: ['move'] }, to }),
      ],
      $defs: { place: form({ kind: { const: 'a' }, x: { type: 'number' } }) },
    };
    expect(problems(validator.check(schema, value))).toEqual(expected);
  });

  it('is reported if it matches too many forms, or may be intended for several', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { oneOf: [{ type: 'number' }, { minimum: 1 }, { type: 'string' }] },
        b: { anyOf: [{ required: ['x'], properties: { mode: { enum: ['p', 'q'] } } }, { required: ['y'] }] },
      },
    };
    expect(problems(validator.check(schema, { a: 2 }))).toEqual(['/a must be of type string']);
    expect(problems(validator.check(schema, { b: { mode: 'z' } }))).toEqual([
      '/b must have one of the allowed forms',
      '/b/x is missing',
      '/b/mode must be one of "p", "q"',
      '/b/y is missing',
    ]);
  });

  it('that equals an exclusive limit is reported, in draft-04 too', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      type: 'object',
      properties: { a: { minimum: 0, exclusiveMinimum: true }, b: { maximum: 9 } },
    };
    expect(problems(validator.check(schema, { a: 0, b: 10 }))).toEqual([
      '/a must be above 0',
      '/b must be at most 9',
    ]);
  });

  it('may lack a required property with a default, as many servers accept it', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer', default: 3 }, b: { type: 'integer' } },
      required: ['a', 'b'],
    };
    expect(validator.check(schema, { b: 1 })).toEqual({ kind: 'fits' });
    expect(problems(validator.check(schema, {}))).toEqual(['/b is missing']);
  });

  it('is checked as it is sent, after JSON serialization', () => {
    const schema = { type: 'object', properties: { at: { type: 'string' } }, additionalProperties: false };
    expect(validator.check(schema, { at: new Date(0), gone: undefined })).toEqual({ kind: 'fits' });
  });

  it('is never repeated, whatever is wrong with it', () => {
    const secret = 'hunter2-hunter2';
    const number = 918_273_645;
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'integer' },
        b: { enum: ['x'] },
        c: { pattern: '^y$' },
        d: { maxLength: 3 },
        e: { const: 1 },
        f: { maximum: 3, multipleOf: 7, exclusiveMaximum: 2 },
        g: { type: 'array', uniqueItems: true },
        h: { not: { type: 'string' } },
        i: { oneOf: [{ type: 'string' }, { minLength: 1 }] },
        j: false,
        k: { propertyNames: { maxLength: 3 } },
        l: { contains: { type: 'null' } },
      },
      dependentRequired: { a: ['z'] },
    };
    const value = {
      ...{ a: secret, b: secret, c: secret, d: secret, e: secret, f: number, g: [secret, secret], h: secret },
      ...{ i: secret, j: secret, k: {}, l: [secret] },
    };
    const verdict = validator.check(schema, value);
    expect(problems(verdict).length).toBeGreaterThan(12);
    expect(JSON.stringify(verdict)).not.toMatch(/hunter2|918273645/);
  });

  it('may have names that look encoded, which are reported unchanged', () => {
    const inner = { type: 'object', properties: { b: { type: 'object', required: ['x'] } } };
    const schema = { type: 'object', additionalProperties: inner };
    const value = { 'a%41': { b: {} }, '%': { b: {} }, 'c/d~e': { b: {} } };
    expect(problems(validator.check(schema, value))).toEqual([
      '/a%41/b/x is missing',
      '/%/b/x is missing',
      '/c~1d~0e/b/x is missing',
    ]);
    expect(problems(validator.check(schema, { z: { b: {} } }))).toEqual(['/z/b/x is missing']);
  });

  it('has at most twenty reported problems', () => {
    const schema = { type: 'object', additionalProperties: { type: 'string' } };
    const value = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, n]));
    expect(problems(validator.check(schema, value))).toHaveLength(20);
  });

  it('that is not JSON, or is larger than a megabyte, is not checked', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const schema = { type: 'object', required: ['never'] };
    expect(validator.check(schema, { big: 1n }).kind).toBe('unknown');
    expect(validator.check(schema, circle).kind).toBe('unknown');
    expect(validator.check(schema, { text: 'x'.repeat(1_100_000) }).kind).toBe('unknown');
    expect(validator.check(schema, {}).kind).toBe('misfit');
  });
});

describe('a schema', () => {
  it.each([
    [undefined, [' must have at least 5 characters']],
    ['https://json-schema.org/draft/2020-12/schema', [' must have at least 5 characters']],
    ['https://json-schema.org/draft/2019-09/schema', [' must have at least 5 characters']],
    ['http://json-schema.org/draft-07/schema#', ['fits']],
    ['http://json-schema.org/draft-04/schema#', ['fits']],
  ])(
    'of the dialect %s is interpreted accordingly: older ones ignore everything beside a reference',
    ($schema, expected) => {
      const $defs = { text: { type: 'string' } };
      const schema = { ...($schema && { $schema }), $ref: '#/$defs/text', minLength: 5, $defs };
      expect(problems(validator.check(schema, 'abc'))).toEqual(expected);
    },
  );

  it('may have an unknown format and unknown keywords, which have no effect', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', format: 'email' }, b: { format: 'of-the-house', 'x-widget': 1 } },
      'x-order': ['a'],
    };
    expect(validator.check(schema, { a: 'not an address', b: 'b' })).toEqual({ kind: 'fits' });
  });

  it('may have a property called format, and data that contains one', () => {
    const schema = {
      type: 'object',
      properties: { format: { enum: ['json'] }, like: { const: { format: 'date' } } },
    };
    expect(validator.check(schema, { format: 'json', like: { format: 'date' } })).toEqual({ kind: 'fits' });
    expect(problems(validator.check(schema, { format: 'xml', like: {} }))).toEqual([
      '/format must be one of "json"',
      '/like must be {"format":"date"}',
    ]);
  });

  it('has its formats checked if the host turned that on', () => {
    const schema = { type: 'object', properties: { mail: { type: 'string', format: 'email' } } };
    expect(problems(withFormats.check(schema, { mail: 'nobody' }))).toEqual([
      '/mail must be written as "email"',
    ]);
    expect(withFormats.check(schema, { mail: 'a@b.example' })).toEqual({ kind: 'fits' });
  });

  it.each([
    ['refers to another document', { $ref: 'https://schemas.example/a.json' }, 'Unresolved $ref'],
    ['has an invalid pattern', { properties: { a: { pattern: '(' } } }, 'Invalid regular expression'],
    ['is of an unknown dialect', { $schema: 'urn:mine', required: ['x'] }, 'dialect'],
    ['refers to itself without end', { properties: { a: true }, $ref: '#' }, 'without end'],
    ['is longer than 64 Ki characters', { required: ['x'], description: 'd'.repeat(70_000) }, 'too long'],
  ])('that %s checks nothing, and reports why once', (_, schema, why) => {
    const first = validator.check(schema, { a: 'b' });
    expect(first).toMatchObject({ kind: 'unknown', why: expect.stringContaining(why) });
    expect(validator.check({ ...schema }, { a: 'b' })).toEqual({ kind: 'unknown' });
  });

  it('is not changed, whatever it contains', () => {
    const schema = structuredClone(FILE);
    validator.check(schema, { path: 'a' });
    expect(schema).toEqual(FILE);
    expect(Object.getOwnPropertyNames(schema)).toEqual(Object.keys(FILE));
  });

  it('that only requires an object needs no validator', () => {
    expect(SchemaValidator.asksNothing({ type: 'object' })).toBe(true);
    expect(SchemaValidator.asksNothing({ type: 'object', properties: {}, description: 'd' })).toBe(true);
    expect(SchemaValidator.asksNothing({ type: 'object', additionalProperties: false })).toBe(false);
    expect(SchemaValidator.asksNothing({ type: 'object', required: ['a'] })).toBe(false);
  });
});

describe('a hostile schema', () => {
  const levels = Array.from({ length: 40 }, (_, n) => n);
  const doubling = Object.fromEntries(
    levels.map((n) => {
      const next = { $ref: `#/$defs/d${n + 1}` };
      return [`d${n}`, n === 39 ? { type: 'string' } : { allOf: [next, next] }];
    }),
  );

  it.each([
    [
      'a pattern with exponential backtracking',
      { properties: { a: { pattern: '^(a+)+$' } } },
      { a: `${'a'.repeat(40)}b` },
    ],
    [
      'references that double at each level',
      { properties: { a: { $ref: '#/$defs/d0' } }, $defs: doubling },
      { a: 'x' },
    ],
  ])('with %s is aborted, and not tried again', (_, schema, value) => {
    expect(validator.check(schema, value)).toMatchObject({
      kind: 'unknown',
      why: expect.stringContaining('takes longer than'),
    });
    const cpu = process.cpuUsage();
    expect(validator.check(schema, value)).toEqual({ kind: 'unknown' });
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(100);
  });

  it('cannot execute code', () => {
    const schema = {
      type: 'object',
      properties: { '"];globalThis.broken=1;//': { enum: ["'];globalThis.broken=1;//"] } },
      required: ['${globalThis.broken=1}'],
    };
    expect(validator.check(schema, {}).kind).toBe('misfit');
    expect('broken' in globalThis).toBe(false);
  });

  it('cannot reach a prototype', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    ) as object;
    expect(validator.check(schema, {})).toEqual({ kind: 'fits' });
    expect(problems(validator.check(schema, JSON.parse('{"__proto__":1}')))).toEqual([
      '/__proto__ must be of type string',
    ]);
  });
});

describe('a validator', () => {
  it('checks only values that need no validator before it is loaded', async () => {
    const late = new SchemaValidator();
    expect(late.isLoaded).toBe(false);
    const plain = { type: 'object', properties: { a: { type: 'string' } } };
    const kinds = [{ a: 'b' }, { a: 1 }].map((value) => late.check(plain, value).kind);
    expect(kinds).toEqual(['fits', 'unknown']);
    expect(late.check({ ...plain, title: 'x'.repeat(70_000) }, { a: 'b' }).kind).toBe('unknown');
    expect(late.isLoaded).toBe(false);
    expect(late.check(FILE, {})).toEqual({ kind: 'unknown' });
    await late.load();
    expect(late.check(FILE, {}).kind).toBe('misfit');
  });

  it('remembers a limited number of schemas, the most recently used ones', () => {
    const small = new SchemaValidator();
    return small.load().then(() => {
      const broken = { $schema: 'urn:mine', required: ['x'] };
      expect(small.check(broken, {})).toHaveProperty('why');
      for (let n = 0; n < 100; n += 1) {
        small.check({ required: [`n${n}`], description: 'd'.repeat(60_000) }, {});
        if (n < 10) expect(small.check({ ...broken }, {})).not.toHaveProperty('why');
      }
      expect(small.check({ ...broken }, {})).toHaveProperty('why');
    });
  });
});
