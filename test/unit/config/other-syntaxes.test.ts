import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  locate,
  membersOf,
  valueOf,
  type ParsedText,
  type TextTree,
} from '../../../src/config/files/text-tree.js';
import { readTomlText } from '../../../src/config/files/toml-text.js';
import { readYamlText } from '../../../src/config/files/yaml-text.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

function treeOf(parsed: ParsedText): TextTree {
  if (parsed.kind !== 'tree') throw new Error(`Not a tree: ${JSON.stringify(parsed)}`);
  return parsed.tree;
}

function placeOf(tree: TextTree, [first = '', ...rest]: readonly (string | number)[]): string {
  const member = membersOf(tree, tree.root).find(({ name }) => name === first);
  if (member === undefined) throw new Error(`There is no ${first}.`);
  const { line, column } = locate(tree, member, rest);
  return `${line}:${column}`;
}

describe('TOML', () => {
  const text = [
    'top = 1',
    '[servers.one]',
    '  command = "x"',
    'args = ["a",',
    '  "b"]',
    '[servers."two words".env]',
    '\'odd key\' = "v"',
    'when = 1979-05-27',
    '[[list]]',
    'x = true',
  ].join('\r\n');

  it('is read with the position of each name.', () => {
    const tree = treeOf(readTomlText(text));
    expect(valueOf(tree.root)).toEqual({
      top: 1,
      servers: {
        one: { command: 'x', args: ['a', 'b'] },
        'two words': { env: { 'odd key': 'v', when: expect.stringContaining('1979-05-27') } },
      },
      list: [{ x: true }],
    });
    expect(placeOf(tree, ['top'])).toBe('1:1');
    expect(placeOf(tree, ['servers', 'one'])).toBe('2:1');
    expect(placeOf(tree, ['servers', 'one', 'command'])).toBe('3:3');
    expect(placeOf(tree, ['servers', 'one', 'args', 1])).toBe('4:1');
    expect(placeOf(tree, ['servers', 'two words', 'env', 'odd key'])).toBe('7:1');
  });

  it.each([
    ['a = ', 1],
    ['a = secret', 1],
    ['a = 1\na = 2', 2],
    ['[a]\nb = 1\n[a]\nc = 2', 3],
    ['[a]\nb = "secret', 2],
    ['[a]\nb = ["secret",', 2],
    ['a = ["secret" "b"]', 1],
    ['secret', 1],
    ['[a\nb = 1', 1],
    ['a = 1 b = 2', 1],
    ['a = "C:\\Users\\secret"', 1],
    ['a = "C:\\secret"', 1],
    ['a = 12345678901234567890', 1],
  ])(
    'that is invalid is reported with its line and a reason, and without any of the text: %j',
    (wrong, line) => {
      const parsed = readTomlText(wrong);
      expect(parsed).toMatchObject({ kind: 'broken', code: 'syntax-error', line });
      expect(JSON.stringify(parsed)).not.toMatch(/secret|this is not TOML/);
    },
  );

  it.each([
    ['a = 01', 1],
    ['# fine\n= 3', 2],
  ])(
    'that is invalid for a reason without words of its own is only reported with its line: %j',
    (wrong, line) => {
      expect(readTomlText(wrong)).toMatchObject({ kind: 'broken', code: 'syntax-error', line });
    },
  );

  it('may be empty, or start with a byte order mark.', () => {
    expect(readTomlText('\uFEFF# nothing\n')).toEqual({ kind: 'empty' });
    expect(valueOf(treeOf(readTomlText('\uFEFFa = 1')).root)).toEqual({ a: 1 });
  });

  it('that is nested too deeply does not overflow the stack.', () => {
    const deep = `a = ${'['.repeat(900)}${']'.repeat(900)}`;
    expect(readTomlText(deep)).toMatchObject({ kind: 'broken' });
    expect(readTomlText(`a = ${'['.repeat(100_000)}`)).toMatchObject({ kind: 'broken' });
  });

  it.each([
    ['a header of many parts', `[${'a.'.repeat(100_000)}b]`],
    ['a field of many parts', `${'a.'.repeat(100_000)}b = 1`],
    [
      'many fields below a long name',
      `[${'x'.repeat(100_000)}]\n${Array.from({ length: 20_000 }, (_, n) => `k${n}=1\n`).join('')}`,
    ],
  ])('is read in time proportional to its length, even %s.', (_, costly) => {
    const startedAt = performance.now();
    expect(['tree', 'broken']).toContain(readTomlText(costly).kind);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe('YAML', () => {
  it('is read with the position of each name.', () => {
    const tree = treeOf(
      readYamlText(
        [
          'extensions:',
          '  one: &one',
          '    cmd: x',
          '    args: [a, "b"]',
          '    port: 3',
          '    on: true',
          '    none: ~',
          '  two: *one',
        ].join('\n'),
      ),
    );
    const one = { cmd: 'x', args: ['a', 'b'], port: 3, on: true, none: null };
    expect(valueOf(tree.root)).toEqual({ extensions: { one, two: one } });
    expect(placeOf(tree, ['extensions', 'one'])).toBe('2:3');
    expect(placeOf(tree, ['extensions', 'one', 'args', 1])).toBe('4:15');
    expect(placeOf(tree, ['extensions', 'one', 'port'])).toBe('5:5');
  });

  it('merges objects with <<, and explicit fields win.', () => {
    const text = [
      'base: &base { command: x, env: { A: a } }',
      'more: &more { cwd: /srv, command: z }',
      'one: { <<: *base, command: y }',
      'two: { <<: [*more, *base] }',
      'three: { "<<": 1 }',
    ];
    expect(valueOf(treeOf(readYamlText(text.join('\n'))).root)).toMatchObject({
      one: { command: 'y', env: { A: 'a' } },
      two: { command: 'z', cwd: '/srv', env: { A: 'a' } },
      three: { '<<': 1 },
    });
  });

  it.each([
    ['a: { <<: secret }', 'syntax-error', 1],
    ['a: &a { <<: *a }', 'too-complex', 1],
    ['a: 1\na: 2', 'syntax-error', 2],
    ['a:\n\t- b', 'syntax-error', 2],
    ['a: *none', 'syntax-error', 1],
    ['a: 1\n---\nb: 2', 'syntax-error', 2],
    ['a: "secret', 'syntax-error', 1],
    ['a: [1', 'syntax-error', 1],
    ['a: !!int x\n&', 'syntax-error', 2],
  ])('that is invalid is reported with its line, and without any of the text: %j', (wrong, code, line) => {
    const parsed = readYamlText(wrong);
    expect(parsed).toMatchObject({ kind: 'broken', code, line });
    expect(JSON.stringify(parsed)).not.toContain('secret');
  });

  it('may be empty, or start with a byte order mark.', () => {
    expect(readYamlText('\uFEFF# nothing\n')).toEqual({ kind: 'empty' });
    expect(valueOf(treeOf(readYamlText('\uFEFFa: 1')).root)).toEqual({ a: 1 });
  });

  it('may have many aliases, each for the last anchor of that name before it.', () => {
    const lines = Array.from(
      { length: 500 },
      (_, n) => `- { one: &a { n: ${n} }, two: *a, three: { four: &a [${n}] }, five: *a }`,
    );
    const read = valueOf(treeOf(readYamlText(lines.join('\n'))).root);
    expect(read).toHaveLength(500);
    const last = { n: 499 };
    expect((read as unknown[]).at(-1)).toEqual({
      one: last,
      two: last,
      three: { four: [499] },
      five: [499],
    });
  });

  it('may have very many names in one object.', () => {
    const lines = Array.from({ length: 5_000 }, (_, n) => `k${n}: ${n}`);
    expect(valueOf(treeOf(readYamlText(lines.join('\n'))).root)).toMatchObject({ k0: 0, k4999: 4_999 });
    expect(readYamlText([...lines, 'k7: 8'].join('\n'))).toMatchObject({
      kind: 'broken',
      code: 'syntax-error',
      line: 5_001,
      column: 1,
    });
  });

  it.each([
    ['{ a: 1, "a": 2 }', 9],
    ['{ <<: {}, <<: {} }', 11],
    ['[{ b: { c: 1, c: 2 } }]', 15],
    ['{ ? a : 1, a }', 12],
  ])('must not contain a name twice: %s', (text, column) => {
    expect(readYamlText(text)).toMatchObject({ kind: 'broken', code: 'syntax-error', line: 1, column });
  });

  it('with aliases that multiply is refused before it fills the memory.', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 10; level++) {
      const alias = `*a${level - 1}`;
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => alias).join(', ')}]`);
    }
    expect(readYamlText(lines.join('\n'))).toMatchObject({ kind: 'broken', code: 'too-complex' });
  });

  it('with a circular alias is refused.', () => {
    expect(readYamlText('a: &a\n  b: *a')).toMatchObject({ kind: 'broken', code: 'too-complex' });
  });
});

describe('any text', () => {
  it.each([
    ['TOML', readTomlText],
    ['YAML', readYamlText],
  ])('read as %s gives a tree, nothing or a position, and never throws.', (_, read) => {
    const piece = fc.constantFrom(
      'a',
      '=',
      ':',
      ' ',
      '\n',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '-',
      '#',
      '&',
      '*',
      '!',
      '|',
    );
    fc.assert(
      fc.property(fc.string({ unit: piece, maxLength: 60 }), (text) => {
        expect(['tree', 'empty', 'broken']).toContain(read(text).kind);
      }),
      { numRuns: 500 },
    );
  });
});
