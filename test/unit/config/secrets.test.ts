import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandConfig } from '../../../src/config/entry/expand.js';
import { loadConfig } from '../../../src/servers/load-config.js';
import { KNOWN_SOURCES } from '../../../src/config/files/known-sources.js';
import { maskConfig } from '../../../src/config/entry/mask-entry.js';
import { parseConfigText } from '../../../src/config/files/parse-config.js';
import { readTomlText } from '../../../src/config/files/toml-text.js';
import { toTrustRequest } from '../../../src/trust/trust-rules.js';
import { readYamlText } from '../../../src/config/files/yaml-text.js';

const SECRET_LETTERS = 'QZXJ0123456789+/=-_~!*. \t\r\n\u00e9\u20ac"\\{}()`:;,<>@?#&%$'.split('');

/** Starts and ends with letters that occur nowhere else in this file; in between, it may contain any special character. */
const secret = fc
  .string({ unit: fc.constantFrom(...SECRET_LETTERS), minLength: 1, maxLength: 24 })
  .map((middle) => `Q7${middle}Z9`)
  // A reference to a variable is not a secret, and names of variables are shown.
  .filter((value) => !value.includes('${'));

/** Checks for every form in which the secret, or a significant part of it, could appear. */
function expectHidden(value: string, shown: unknown): void {
  const text = JSON.stringify(shown);
  expect(text).not.toContain(JSON.stringify(value).slice(1, -1));
  expect(text).not.toContain(encodeURIComponent(value));
  expect(text).not.toMatch(/Q7|Z9/);
}

/** Valid and invalid entries around one secret, as a file would contain them. */
const entriesAround = (value: string): Readonly<Record<string, unknown>> => ({
  env: { command: 'lamp', env: { TOKEN: value } },
  envDefault: { command: 'lamp', env: { TOKEN: `\${TOKEN:-${value}}` } },
  envTwice: { command: 'lamp', env: { TOKEN: value }, environment: { TOKEN: value } },
  envList: { command: 'lamp', env: [value] },
  envNested: { command: 'lamp', env: { TOKEN: { value } } },
  envText: { command: 'lamp', env: value },
  badTemplate: { command: 'lamp', env: { TOKEN: `$(${value})` } },
  openTemplate: { command: 'lamp', env: { TOKEN: `\${TOKEN:-${value}` } },
  header: { url: 'https://example.com/mcp', headers: { Authorization: `Bearer ${value}` } },
  headerList: { url: 'https://example.com/mcp', headers: { Authorization: [value] } },
  query: { url: `https://example.com/mcp?key=${encodeURIComponent(value)}` },
  bareQuery: { url: `https://example.com/mcp?${encodeURIComponent(value)}` },
  fragment: { url: `https://example.com/mcp#${encodeURIComponent(value)}` },
  credentials: { url: `https://ada:${encodeURIComponent(value)}@example.com/mcp` },
  userName: { url: `https://${encodeURIComponent(value)}@example.com/mcp` },
  otherScheme: { url: `ftp://example.com/mcp?key=${encodeURIComponent(value)}` },
  both: { command: 'lamp', url: `https://example.com/?k=${encodeURIComponent(value)}`, env: { A: value } },
});

describe('for any secret', () => {
  it.each(KNOWN_SOURCES.filter((row) => row.layout(undefined).syntax === 'json'))(
    'no problem with the file of $kind ($scope) and no masked entry of it contains it',
    ({ kind, layout }) => {
      fc.assert(
        fc.property(secret, (value) => {
          fc.pre(kind !== 'gemini' || !/\$[A-Za-z_]/.test(value));
          const { holders } = layout(undefined);
          const key = holders[0]?.path[0] ?? '';
          const text = JSON.stringify({ [key]: entriesAround(value) });
          const { entries, problems } = parseConfigText(text, 'kit.json', layout(undefined));
          expectHidden(value, [problems, entries.map(({ config }) => maskConfig(config))]);
        }),
        { numRuns: 20 },
      );
    },
  );

  it('no problem with an invalid TOML or YAML text contains it', () => {
    fc.assert(
      fc.property(secret, (value) => {
        const toml = readTomlText(`[mcp_servers.a]\nenv = { A = ${value} }`);
        const yaml = readYamlText(`extensions:\n  a: [${value}\n b: *${value}`);
        expectHidden(
          value,
          [toml, yaml].filter(({ kind }) => kind === 'broken'),
        );
      }),
    );
  });

  it('no problem with a file and no masked entry contains it', () => {
    fc.assert(
      fc.property(secret, (value) => {
        const text = JSON.stringify({ mcpServers: entriesAround(value) });
        const { entries, problems } = parseConfigText(text, 'kit.json');
        expect(entries.length).toBeGreaterThan(2);
        expectHidden(value, problems);
        expectHidden(
          value,
          entries.map(({ config }) => maskConfig(config)),
        );
      }),
    );
  });

  it('no problem with a broken file contains it', () => {
    fc.assert(
      fc.property(
        secret,
        fc.nat({ max: 200 }),
        fc.constantFrom('', ',', '"', '}', 'x'),
        (value, cut, added) => {
          const text = JSON.stringify({ mcpServers: { a: { command: 'x', env: { TOKEN: value } } } });
          const broken = `${text.slice(0, Math.max(0, text.length - cut))}${added}`;
          expectHidden(value, parseConfigText(broken, 'kit.json').problems);
        },
      ),
    );
  });

  it('no failure, problem or trust request from loading to expansion contains it', async () => {
    await fc.assert(
      fc.asyncProperty(secret, async (value) => {
        const text = JSON.stringify({ mcpServers: entriesAround(value) });
        const loaded = await loadConfig({ config: 'kit.json', cwd: '/srv' }, () => Promise.resolve(text));
        expectHidden(value, [loaded.problems, loaded.refused, loaded.sources]);
        expectHidden(value, loaded.servers.map(toTrustRequest));
        expectHidden(
          value,
          failuresOf(loaded.servers.map((spec) => expandConfig(spec, { env: {}, home: '/h' }))),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('no failure to expand contains it as the value of a variable', () => {
    const configs = [
      { url: '${S}' },
      { url: 'https://${S}@h/' },
      { url: 'ftp://h/?k=${S}' },
      { url: 'https://h/', headers: { A: '${S}' } },
      { command: '${S}', args: ['$S', '${MISSING}'] },
      { command: 'x', env: { A: '${S}', B: '${MISSING}' } },
    ];
    fc.assert(
      fc.property(secret, (value) => {
        const results = configs.map((config) =>
          expandConfig({ name: 'a', baseDir: '/srv', config }, { env: { S: value }, home: '/h' }),
        );
        expect(failuresOf(results).length).toBeGreaterThan(3);
        expectHidden(value, failuresOf(results));
      }),
    );
  });
});

function failuresOf(results: readonly ReturnType<typeof expandConfig>[]): readonly unknown[] {
  return results.flatMap((result) => ('failure' in result ? [result.failure] : []));
}
