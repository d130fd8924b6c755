/** Configuration files with any content: no error is thrown, and an empty result always has a problem. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/servers/load-config.js';
import { parseConfigText } from '../../../src/config/files/parse-config.js';
import { readTomlText } from '../../../src/config/files/toml-text.js';
import { readYamlText } from '../../../src/config/files/yaml-text.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { json, nested, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';

useLeakCheck();

const ENTRY_FIELDS = [
  'type',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'timeout',
  'startTimeoutMs',
  'disabled',
  'tools',
];

const entry = fc.oneof(
  fc.constantFrom<unknown>({ command: 'node', args: ['server.js'] }, { url: 'https://mcp.example/' }),
  fc.dictionary(fc.oneof(fc.constantFrom(...ENTRY_FIELDS), text), json, { maxKeys: 5 }),
  json,
);

/** Mostly well-formed. */
const configuration = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom('mcpServers', 'servers', 'mcp'), fc.dictionary(text, entry, { maxKeys: 4 }))
      .map(([key, servers]) => ({ [key]: servers })),
  },
  { weight: 1, arbitrary: json },
);

/** A change that a person, an editor or a crash makes to a file. */
interface Damage {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

const damage: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(400),
  remove: fc.nat(6),
  insert: fc.oneof(
    fc.constantFrom(
      '',
      ',',
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      '\\u12',
      '/*',
      '//',
      '\n',
      '\0',
      '\ufeff',
      ':',
      '-',
      '1e',
    ),
    text,
  ),
});

const damaged = (whole: string, damages: readonly Damage[]): string =>
  damages.reduce(
    (left, { at, remove, insert }) => left.slice(0, at) + insert + left.slice(at + remove),
    whole,
  );

function expectHonest(source: string): void {
  const { entries, problems } = parseConfigText(source, 'a.json');
  expect(entries.length + problems.length).toBeGreaterThan(0);
  expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
  for (const problem of problems) {
    expect(problem.source).toBe('a.json');
    expect(problem.message).not.toBe('');
    expect(`${problem.message}${problem.field ?? ''}${problem.server ?? ''}`).not.toMatch(
      /[\p{Cc}\p{Bidi_Control}]/u,
    );
    if (problem.line !== undefined) expect(problem.line).toBeGreaterThan(0);
  }
}

describe('a configuration file', () => {
  it('with any text gives entries or a problem', () =>
    fuzz(
      150,
      fc.property(
        fc.array(fc.oneof(text, fc.constantFrom('{', '}', '[', '"', ',', ':', '/*', '//', '\n'))),
        (parts) => {
          expectHonest(parts.join(''));
        },
      ),
    ));

  it('that is well-formed with any content gives entries or a problem', () =>
    fuzz(
      150,
      fc.property(configuration, fc.constantFrom(undefined, 2), (value, indent) => {
        expectHonest(JSON.stringify(value, undefined, indent));
      }),
    ));

  it('that was damaged gives entries or a problem', () =>
    fuzz(
      150,
      fc.property(configuration, fc.array(damage, { minLength: 1, maxLength: 4 }), (value, damages) => {
        expectHonest(damaged(JSON.stringify(value, undefined, 2), damages));
      }),
    ));

  it('that is truncated gives no entry, because half of an entry could start another program', () =>
    fuzz(
      100,
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), entry, { minKeys: 1, maxKeys: 4 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (servers, part) => {
          const whole = JSON.stringify({ mcpServers: servers });
          const { entries, problems } = parseConfigText(
            whole.slice(0, Math.floor(part * (whole.length - 1))),
            'a.json',
          );
          expect(entries).toEqual([]);
          expect(problems.some(({ severity }) => severity !== 'warning')).toBe(true);
        },
      ),
    ));

  it.each([
    ['YAML', readYamlText, ['a:', '- ', '&a ', '*a', '|', '>', '---', '<<: *a', '!!', '? ', '%']],
    ['TOML', readTomlText, ['[a]', '[[a]]', 'a = ', 'a.b = ', '"""', "'''", '1979-05-27', 'inf', '#', '0x']],
  ])('with any text does not make the %s reader throw', (_, read, words) =>
    fuzz(
      200,
      fc.property(fc.array(fc.oneof(text, fc.constantFrom('\n', '  ', '[', '{', '"', ...words))), (parts) => {
        expect(['tree', 'empty', 'broken']).toContain(read(parts.join('')).kind);
      }),
    ),
  );

  it.each([
    ['objects', nested(100_000)],
    ['arrays', '['.repeat(100_000)],
    ['a server', `{"mcpServers":{"a":{"command":"x","env":${nested(100_000)}}}}`],
    ['comments', '/*'.repeat(100_000)],
  ])('that nests %s a hundred thousand levels deep gives a problem', (_, source) => {
    expectHonest(source);
    expect(parseConfigText(source, 'a.json').entries).toEqual([]);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])(
    'may name a server %s without affecting others',
    async (name) => {
      const source = `{"mcpServers":{${JSON.stringify(name)}:{"command":"odd"},"plain":{"url":"https://mcp.example/"}}}`;
      const { servers } = await loadConfig({ cwd: '/', config: 'a.json' }, async () => source);
      expect(servers.map((server) => server.name).toSorted()).toEqual([name, 'plain'].toSorted());
      expect(({} as { command?: unknown }).command).toBeUndefined();
    },
  );

  it('may not name a server __proto__, and the others are not affected', async () => {
    const source = '{"mcpServers":{"__proto__":{"command":"odd"},"plain":{"url":"https://mcp.example/"}}}';
    const { servers, refused } = await loadConfig({ cwd: '/', config: 'a.json' }, async () => source);
    expect(servers.map((server) => server.name)).toEqual(['plain']);
    expect(refused.map((server) => server.name)).toEqual(['__proto__']);
    expect(({} as { command?: unknown }).command).toBeUndefined();
  });
});
