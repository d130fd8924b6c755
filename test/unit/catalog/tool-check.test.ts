import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogHash, diffTexts } from '../../../src/catalog/list-diff.js';
import { checkTools, toTexts } from '../../../src/catalog/tool-check.js';

const INPUT = { type: 'object' } as const;

function tool(name: string, more: Readonly<Record<string, unknown>> = {}): Tool {
  return { name, inputSchema: INPUT, ...more };
}

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = { inner: value };
  return value;
}

describe('a list of tools', () => {
  it('is unchanged if every tool is valid', () => {
    const raw = [
      tool('echo'),
      tool('lamp_set', { title: 'Lamp', description: 'Sets a lamp.', annotations: {} }),
    ];
    expect(checkTools(raw)).toEqual({ tools: raw, problems: [], leftOut: [] });
  });

  it('may be empty', () => {
    expect(checkTools([])).toEqual({ tools: [], problems: [], leftOut: [] });
  });

  it.each([
    { what: 'null', bad: null, named: 'Tool number 2', why: 'it is not an object' },
    { what: 'a number', bad: 7, named: 'Tool number 2', why: 'it is not an object' },
    { what: 'a string', bad: 'echo', named: 'Tool number 2', why: 'it is not an object' },
    { what: 'a list', bad: [], named: 'Tool number 2', why: 'it is not an object' },
    {
      what: 'a tool without a name',
      bad: { inputSchema: INPUT },
      named: 'Tool number 2',
      why: 'name',
    },
    {
      what: 'a tool with a number as its name',
      bad: { name: 7, inputSchema: INPUT },
      named: 'Tool number 2',
      why: 'name',
    },
    { what: 'a tool with an empty name', bad: tool(''), named: 'Tool number 2', why: 'name' },
    {
      what: 'a second tool with the same name',
      bad: tool('good'),
      named: 'Tool "good"',
      why: 'name',
    },
    {
      what: 'an input schema that is a string',
      bad: tool('lamp_wish', { inputSchema: 'object' }),
      why: 'inputSchema',
    },
    {
      what: 'an input schema that is a list',
      bad: tool('lamp_wish', { inputSchema: [] }),
      why: 'inputSchema',
    },
    {
      what: 'an input schema of type string',
      bad: tool('lamp_wish', { inputSchema: { type: 'string' } }),
      why: '"object"',
    },
    {
      what: 'properties that are a list',
      bad: tool('lamp_wish', { inputSchema: { ...INPUT, properties: [] } }),
      why: '"properties"',
    },
    {
      what: 'a required that is a string',
      bad: tool('lamp_wish', { inputSchema: { ...INPUT, required: 'a' } }),
      why: '"required"',
    },
    {
      what: 'a dangling reference in the input schema',
      bad: tool('lamp_wish', { inputSchema: { ...INPUT, not: { $ref: '#/a' } } }),
      why: '"#/a"',
    },
    ...(
      [
        ['an unknown type', { a: { type: 'strng' } }, '"type", at "#/properties/a"'],
        ['a type that is not a string', { a: { type: [null] } }, '"type", at "#/properties/a"'],
        ['a property that is not a schema', { a: 'string' }, '"properties"'],
        ['a flag for required', { 'a/b': { type: 'string', required: true } }, '"#/properties/a~1b"'],
        ['items that are not a schema', { a: { items: 'x' } }, '"#/properties/a"'],
        ['choices that are not a list', { a: { items: { anyOf: {} } } }, '"#/properties/a/items"'],
        ['an enum that is not a list', { a: { enum: 'x' } }, '"#/properties/a"'],
      ] as const
    ).map(([what, properties, why]) => ({
      what: `${what} within the input schema`,
      bad: tool('lamp_wish', { inputSchema: { ...INPUT, properties } }),
      why,
    })),
    {
      what: 'required properties without names',
      bad: tool('lamp_wish', { inputSchema: { ...INPUT, required: [1] } }),
      why: '"required"',
    },
    {
      what: 'a tool that is nested too deeply',
      bad: tool('lamp_wish', { _meta: nested(300) }),
      why: '200 levels',
    },
  ])('loses $what, reports it once and keeps the rest', ({ bad, why, named = 'Tool "lamp_wish"' }) => {
    const { tools, problems, leftOut } = checkTools([tool('good'), bad, tool('also_good')]);
    expect(tools).toEqual([tool('good'), tool('also_good')]);
    expect(problems).toEqual([expect.stringContaining(named)]);
    expect(problems[0]).toContain(why);
    expect(leftOut).toEqual([
      {
        tool: named.startsWith('Tool number') ? null : JSON.parse(named.slice(5)),
        why: expect.stringContaining(why) as string,
      },
    ]);
  });

  it.each([
    { what: 'a title', field: 'title', value: 7, why: 'is not a string' },
    { what: 'a description', field: 'description', value: 7, why: 'is not a string' },
    { what: 'annotations', field: 'annotations', value: 'safe', why: 'is not an object' },
    { what: 'an output schema', field: 'outputSchema', value: 7, why: 'is not an object' },
    {
      what: 'an output schema',
      field: 'outputSchema',
      value: { type: 'array' },
      why: 'is not of type "object"',
    },
    {
      what: 'an output schema',
      field: 'outputSchema',
      value: { ...INPUT, properties: { row: { $ref: '#/$defs/Row' } } },
      why: 'refers to "#/$defs/Row", which does not exist',
    },
  ])('keeps a tool without $what that $why, and reports it', ({ field, value, why }) => {
    const raw = Object.freeze(tool('lamp_report', { [field]: value, extra: 1 }));
    expect(checkTools([tool('echo'), raw])).toEqual({
      tools: [tool('echo'), tool('lamp_report', { extra: 1 })],
      problems: [`Tool "lamp_report" is kept without its ${field}: it ${why}.`],
      leftOut: [],
    });
  });

  it.each([
    ['an empty schema', {}],
    ['no schema', undefined],
    ['null', null],
    ['a type of null', { type: null }],
    ['a list of types with object', { type: ['object', 'null'] }],
  ])('treats %s as a schema of type object, and reports it once for all tools', (_, inputSchema) => {
    const raw = ['one', 'two'].map((name) =>
      Object.freeze(tool(name, { inputSchema, outputSchema: { properties: {} } })),
    );
    const { tools, problems } = checkTools([tool('echo'), ...raw]);
    expect(tools.map((each) => each.inputSchema.type)).toEqual(['object', 'object', 'object']);
    expect(tools[1]?.outputSchema).toEqual({ type: 'object', properties: {} });
    expect(problems).toEqual([expect.stringMatching(/"one", "two"/)]);
  });

  it('treats null in an optional field as absent, without a problem', () => {
    const raw = tool('echo', {
      title: null,
      description: null,
      annotations: null,
      outputSchema: null,
      icons: null,
      _meta: null,
      other: null,
    });
    const { tools, problems } = checkTools([raw]);
    expect(tools).toEqual([tool('echo', { other: null })]);
    expect(problems).toEqual([]);
  });

  it('keeps the first valid one of several tools with the same name', () => {
    const raw = [
      { name: 'echo', inputSchema: 'broken' },
      tool('echo', { title: 'second' }),
      tool('echo', { title: 'third' }),
    ];
    expect(checkTools(raw).tools).toEqual([tool('echo', { title: 'second' })]);
    expect(checkTools(raw).problems).toHaveLength(2);
  });

  it('leaves unknown fields unchanged, whatever their names are', () => {
    const raw = JSON.parse(
      '{"name":"echo","inputSchema":{"type":"object"},"toString":1,"constructor":null,"__proto__":{"a":1},"icons":7,"x":[null]}',
    ) as unknown;
    const { tools, problems } = checkTools([raw]);
    expect(tools[0]).toBe(raw);
    expect(problems).toEqual([]);
  });

  it('treats undefined, as an in-process server may send it, as absent', () => {
    const raw = tool('echo', { description: undefined, outputSchema: undefined });
    expect(checkTools([raw])).toEqual({ tools: [raw], problems: [], leftOut: [] });
  });

  it('does not check data in a schema as a schema, or property names as keywords', () => {
    const properties = {
      type: { type: ['string', 'null'], default: { type: 'strng' }, examples: [{ required: 1 }] },
      required: { const: { items: 'x' } },
      pair: { type: 'array', items: [{}, true] },
      enum: { enum: [{ anyOf: 1 }] },
    };
    const raw = tool('echo', { inputSchema: { ...INPUT, properties } });
    expect(checkTools([raw])).toEqual({ tools: [raw], problems: [], leftOut: [] });
  });

  it('accepts boolean schemas among the properties', () => {
    const raw = tool('echo', { inputSchema: { ...INPUT, properties: { any: true } } });
    expect(checkTools([raw])).toEqual({ tools: [raw], problems: [], leftOut: [] });
  });

  it('keeps a tool that is nested to the limit', () => {
    expect(checkTools([tool('deep', { _meta: nested(198) })]).tools).toHaveLength(1);
    expect(checkTools([tool('deep', { _meta: nested(199) })]).tools).toHaveLength(0);
  });

  it('handles a tool that is nested a million levels deep, or circular', () => {
    const endless: Record<string, unknown> = {};
    endless['left'] = endless;
    endless['right'] = [endless];
    const raw = [tool('abyss', { _meta: nested(1_000_000) }), tool('loop', { _meta: endless }), tool('echo')];
    expect(checkTools(raw).tools).toEqual([tool('echo')]);
  });

  it('quotes the text of a server, cut and without control characters', () => {
    const hostile = `lamp\u001b[2J\u009b31m\u202e\u2028${'y'.repeat(500)}`;
    const [problem = ''] = checkTools([{ name: hostile }]).problems;
    expect(problem).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(problem).toContain('lamp');
    expect(problem.length).toBeLessThan(250);
  });

  it('never throws and never has two tools with the same name, whatever JSON a server sends', () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record({
        name: fc.constantFrom('a', 'b', ''),
        inputSchema: fc.oneof(fc.constant(INPUT), fc.jsonValue()),
      }),
      fc.record({
        name: fc.string(),
        inputSchema: fc.constant(INPUT),
        outputSchema: fc.jsonValue(),
        title: fc.jsonValue(),
      }),
    );
    fc.assert(
      fc.property(fc.array(entry), (raw) => {
        const { tools, problems } = checkTools(raw);
        expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
        expect(problems.length).toBeGreaterThanOrEqual(raw.length - tools.length);
        expect(checkTools(tools)).toEqual({ tools, problems: [], leftOut: [] });
      }),
    );
  });
});

describe('the difference of two lists', () => {
  it.each([
    { story: 'empty for equal lists', before: [tool('a')], after: [tool('a')] },
    { story: 'empty for empty lists', before: [], after: [] },
    {
      story: 'empty for another order of tools',
      before: [tool('a'), tool('b')],
      after: [tool('b'), tool('a')],
    },
    {
      story: 'empty for another order of keys',
      before: [tool('a', { _meta: { x: 1, y: { p: 1, q: 2 } } })],
      after: [{ _meta: { y: { q: 2, p: 1 }, x: 1 }, inputSchema: INPUT, name: 'a' } as Tool],
    },
    {
      story: 'the added tools, sorted',
      before: [tool('b')],
      after: [tool('c'), tool('b'), tool('a')],
      added: ['a', 'c'],
    },
    {
      story: 'the removed tools, sorted',
      before: [tool('c'), tool('b'), tool('a')],
      after: [tool('b')],
      removed: ['a', 'c'],
    },
    {
      story: 'a new description',
      before: [tool('a')],
      after: [tool('a', { description: 'new' })],
      changed: ['a'],
    },
    {
      story: 'a change deep in a schema',
      before: [tool('a', { inputSchema: { ...INPUT, properties: { x: { enum: [1, 2] } } } })],
      after: [tool('a', { inputSchema: { ...INPUT, properties: { x: { enum: [2, 1] } } } })],
      changed: ['a'],
    },
    {
      story: 'a field that became null',
      before: [tool('a')],
      after: [tool('a', { icons: null })],
      changed: ['a'],
    },
    {
      story: 'everything at once',
      before: [tool('a'), tool('b'), tool('c')],
      after: [tool('d'), tool('c'), tool('b', { title: 'B' })],
      added: ['d'],
      removed: ['a'],
      changed: ['b'],
    },
    {
      story: 'a tool called like an inherited property',
      before: [],
      after: [tool('toString')],
      added: ['toString'],
    },
  ])('is $story, and the hashes agree', ({ before, after, added = [], removed = [], changed = [] }) => {
    expect(diffTexts(toTexts(before), toTexts(after))).toEqual({ added, removed, changed });
    const same = added.length + removed.length + changed.length === 0;
    expect(catalogHash(toTexts(before)) === catalogHash(toTexts(after))).toBe(same);
  });
});

describe('the hash of a list', () => {
  it('is a SHA-256 in hex that stays the same from version to version, since caches are compared by it', () => {
    expect(catalogHash(toTexts([]))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(catalogHash(toTexts([tool('b'), tool('a', { title: 'A' })]))).toBe(
      '41a20f5e2ae310dc01cfaf50afeae5934e8f6c6bb2a12eb03beb570dacd7a3a5',
    );
  });

  it('differs for two lists exactly if they have a difference', () => {
    const someTool = fc
      .record({
        name: fc.constantFrom('a', 'b', 'c'),
        _meta: fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue()),
      })
      .map(({ name, _meta }) => tool(name, { _meta }));
    const list = fc.uniqueArray(someTool, { selector: ({ name }) => name });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const { added, removed, changed } = diffTexts(toTexts(before), toTexts(after));
        const same = added.length + removed.length + changed.length === 0;
        expect(catalogHash(toTexts(before)) === catalogHash(toTexts(after))).toBe(same);
      }),
    );
  });
});
