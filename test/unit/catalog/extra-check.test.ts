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

  it('is unchanged if every entry is valid, even with unknown fields', () => {
    const raw = [{ ...good, title: 'A', description: 'An a.', _meta: { 'x/y': 1 }, icons: [] }];
    expect(checkExtras(kind, raw)).toEqual({ entries: raw, problems: [] });
    expect(checkExtras(kind, [])).toEqual({ entries: [], problems: [] });
  });

  it.each([null, 7, 'a', [], {}])('loses %j and keeps the rest', (bad) => {
    const { entries, problems } = checkExtras(kind, [bad, good]);
    expect(entries).toEqual([good]);
    expect(problems).toEqual([expect.stringMatching(/ number 1 /)]);
  });

  it('loses entries without a name, or with a name that is not a string', () => {
    const { entries, problems } = checkExtras(kind, [
      { ...good, name: '' },
      { ...good, name: 7 },
      { ...good, name: undefined },
    ]);
    expect(entries).toEqual([]);
    expect(problems).toHaveLength(3);
    for (const problem of problems) expect(problem).toContain('name');
  });

  it('keeps the first of two entries with the same identity', () => {
    const { entries, problems } = checkExtras(kind, [good, { ...good, title: 'Second' }]);
    expect(entries).toEqual([good]);
    expect(problems).toEqual([expect.any(String)]);
  });

  it('loses an entry that is nested too deeply', () => {
    const { entries, problems } = checkExtras(kind, [{ ...good, _meta: nested(300) }]);
    expect(entries).toEqual([]);
    expect(problems).toEqual([expect.stringContaining('200')]);
  });

  it('keeps an entry without its fields of the wrong type', () => {
    const { entries, problems } = checkExtras(kind, [{ ...good, title: 7, description: {} }]);
    expect(entries).toEqual([good]);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain('title');
  });

  it('quotes the text of the server, cut and without control characters', () => {
    const id = `\u001b[31m\n${'x'.repeat(10_000)}`;
    const bad = { ...good, [kind === 'resources' ? 'uri' : kind === 'prompts' ? 'name' : 'uriTemplate']: id };
    const { problems } = checkExtras(kind, [bad, bad]);
    expect(problems[0]!.length).toBeLessThan(300);
    expect(problems[0]).not.toMatch(/\p{Cc}/u);
  });
});

describe('a resource', () => {
  it('is left out without a URI, even if it has a name', () => {
    expect(checkExtras('resources', [{ name: 'a' }, { name: 'b', uri: '' }])).toMatchObject({
      entries: [],
      problems: [expect.stringMatching(/"a".*uri/), expect.stringMatching(/2.*uri/)],
    });
  });

  it.each([-1, NaN, '7', {}])('is kept without a size of %j', (size) => {
    expect(checkExtras('resources', [{ ...GOOD.resources, size }]).entries).toEqual([GOOD.resources]);
  });

  it('may have the same name as another one', () => {
    const raw = [GOOD.resources, { ...GOOD.resources, uri: 'file:///b' }];
    expect(checkExtras('resources', raw).entries).toEqual(raw);
  });

  it('is identified by its URI', () => {
    expect(identityOf('resources', GOOD.resources)).toBe('file:///a');
  });
});

describe('a prompt', () => {
  it('keeps a valid list of named arguments', () => {
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
      expect(problems).toEqual([expect.stringMatching(/"a".*arguments/)]);
    },
  );
});

describe('for any list of a server', () => {
  it.each(KINDS)('%s are valid after the check, and there is a problem for each invalid one', (kind) => {
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
