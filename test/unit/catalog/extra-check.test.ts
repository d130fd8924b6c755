import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkExtras, identityOf, type ExtraKind } from '../../../src/catalog/extra-check.js';

const GOOD = {
  resources: { uri: 'file:///a', name: 'a' },
  resourceTemplates: { uriTemplate: 'file:///{path}', name: 'a' },
  prompts: { name: 'a' },
} as const;

const KINDS = Object.keys(GOOD) as ExtraKind[];

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = { inner: value };
  return value;
}

describe.each(KINDS)('a list of %s', (kind) => {
  const good = GOOD[kind];

  it('passes unchanged if every entry is good, unknown fields included', () => {
    const raw = [{ ...good, title: 'A', description: 'An a.', _meta: { 'x/y': 1 }, icons: [] }];
    expect(checkExtras(kind, raw)).toEqual({ entries: raw, problems: [] });
    expect(checkExtras(kind, [])).toEqual({ entries: [], problems: [] });
  });

  it.each([null, 7, 'a', [], {}])('leaves out %j and keeps the rest', (bad) => {
    const { entries, problems } = checkExtras(kind, [bad, good]);
    expect(entries).toEqual([good]);
    expect(problems).toEqual([expect.stringMatching(/ number 1 was left out: it .*\.$/)]);
  });

  it('leaves out what has no name, or one that is no text', () => {
    const { entries, problems } = checkExtras(kind, [
      { ...good, name: '' },
      { ...good, name: 7 },
      { ...good, name: undefined },
    ]);
    expect(entries).toEqual([]);
    expect(problems).toHaveLength(3);
    for (const problem of problems) expect(problem).toContain('it has no name');
  });

  it('keeps the first of two with one identity', () => {
    const { entries, problems } = checkExtras(kind, [good, { ...good, title: 'Second' }]);
    expect(entries).toEqual([good]);
    expect(problems).toEqual([expect.stringContaining('an earlier one has the same')]);
  });

  it('leaves out what nests too deeply', () => {
    const { entries, problems } = checkExtras(kind, [{ ...good, _meta: nested(300) }]);
    expect(entries).toEqual([]);
    expect(problems).toEqual([expect.stringContaining('nests deeper than 200 levels')]);
  });

  it('keeps an entry without the fields that have the wrong type', () => {
    const { entries, problems } = checkExtras(kind, [{ ...good, title: 7, description: {} }]);
    expect(entries).toEqual([good]);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/is kept without its title: it is not a string\.$/);
  });

  it('quotes what the server wrote, cut and without control characters', () => {
    const id = `\u001b[31m\n${'x'.repeat(10_000)}`;
    const bad = { ...good, [kind === 'resources' ? 'uri' : kind === 'prompts' ? 'name' : 'uriTemplate']: id };
    const { problems } = checkExtras(kind, [bad, bad]);
    expect(problems[0]!.length).toBeLessThan(300);
    expect(problems[0]).not.toMatch(/\p{Cc}/u);
  });
});

describe('a resource', () => {
  it('is left out without a URI, though it has a name', () => {
    expect(checkExtras('resources', [{ name: 'a' }, { name: 'b', uri: '' }])).toMatchObject({
      entries: [],
      problems: ['Resource "a" was left out: it has no uri.', expect.stringContaining('it has no uri')],
    });
  });

  it.each([-1, NaN, '7', {}])('is kept without a size of %j', (size) => {
    expect(checkExtras('resources', [{ ...GOOD.resources, size }]).entries).toEqual([GOOD.resources]);
  });

  it('may share its name with another one', () => {
    const raw = [GOOD.resources, { ...GOOD.resources, uri: 'file:///b' }];
    expect(checkExtras('resources', raw).entries).toEqual(raw);
  });

  it('is identified by its URI', () => {
    expect(identityOf('resources', GOOD.resources)).toBe('file:///a');
  });
});

describe('a prompt', () => {
  it('keeps the arguments that are a list of named ones', () => {
    const raw = [
      { name: 'a', arguments: [{ name: 'x', description: 'An x.', required: true }, { name: 'y' }] },
    ];
    expect(checkExtras('prompts', raw)).toEqual({ entries: raw, problems: [] });
  });

  it.each([[{}], [{ name: '' }], [{ name: 'x', required: 'yes' }], 'x', { x: {} }, [null]])(
    'is kept without arguments such as %j',
    (args) => {
      const { entries, problems } = checkExtras('prompts', [{ name: 'a', arguments: args }]);
      expect(entries).toEqual([{ name: 'a' }]);
      expect(problems).toEqual([
        'Prompt "a" is kept without its arguments: it is not a list of named arguments.',
      ]);
    },
  );
});

describe('whatever a server lists', () => {
  it.each(KINDS)('gives %s that are good by the same rules, and one problem for every bad one', (kind) => {
    const field = fc.constantFrom('uri', 'uriTemplate', 'name', 'title', 'arguments', 'size', 'x');
    const entry = fc.oneof(fc.jsonValue(), fc.dictionary(field, fc.oneof(fc.string(), fc.jsonValue())));
    fc.assert(
      fc.property(fc.array(entry), (raw) => {
        const before = JSON.stringify(raw);
        const { entries, problems } = checkExtras(kind, raw);
        expect(JSON.stringify(raw)).toBe(before);
        expect(checkExtras(kind, entries)).toEqual({ entries, problems: [] });
        expect(new Set(entries.map((each) => identityOf(kind, each))).size).toBe(entries.length);
        expect(problems.length).toBeGreaterThanOrEqual(raw.length - entries.length);
      }),
    );
  });
});
