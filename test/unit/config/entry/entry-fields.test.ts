/** What holds for every row of the table of fields, including future ones. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { diffServers } from '../../../../src/config/diff.js';
import { FIELD_ROWS, type EntryField } from '../../../../src/config/entry/entry-fields.js';
import { CONFIG_SCHEMA } from '../../../../src/config/entry/published-schema.js';
import type { Schema } from '../../../../src/config/entry/schema.js';
import type { ServerConfig } from '../../../../src/config/entry/server-config.js';
import { validateEntry } from '../../../../src/config/entry/validate-entry.js';
import { loadConfig } from '../../../../src/servers/load-config.js';

const REFERENCE = readFileSync(new URL('../../../../docs/reference/options.md', import.meta.url), 'utf8');
const [, SECTION = ''] = REFERENCE.split('## Fields of an entry\n');
const REFERENCE_ROWS = [...(SECTION.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)`/gm)].map(
  ([, name]) => name,
);
const PUBLISHED = CONFIG_SCHEMA as {
  readonly properties: {
    readonly mcpServers: { readonly additionalProperties: { readonly properties: Record<string, object> } };
  };
};

/** A valid value that is not the default. */
function sampleOf({ schema, default: without }: Pick<EntryField, 'schema' | 'default'>): unknown {
  const { anyOf, properties, items, type } = schema;
  if (schema.enum !== undefined) return schema.enum.findLast((word) => word !== without);
  if (anyOf !== undefined) return sampleOf({ schema: anyOf.at(-1) as Schema });
  if (items !== undefined) return [sampleOf({ schema: items })];
  if (schema.title?.startsWith('a header') === true) return 'X-Sample';
  if (type === 'boolean') return without !== true;
  if (type === 'number' || type === 'integer') return 7_000;
  if (type === 'string') return 'https://other.example/';
  const [name, inner] = Object.entries(properties ?? { x: { type: 'string' } })[0] as [string, Schema];
  return { [name]: sampleOf({ schema: inner }) };
}

const bases: Readonly<Record<string, object>> = {
  http: { type: 'http', url: 'https://a.example/' },
  stdio: { command: 'x' },
};

const baseOf = ({ transports }: EntryField): object =>
  bases[transports.includes('http') ? 'http' : 'stdio'] ?? {};

const loaded = (entry: object) => loadConfig({ servers: { a: entry as ServerConfig }, cwd: '/srv' });

describe.each(FIELD_ROWS)('the field %s', (name, field) => {
  const base = baseOf(field);
  const sample = sampleOf(field);
  const entry = { ...base, [name]: sample };

  it('accepts a valid value, and refuses an invalid one.', () => {
    expect(validateEntry('a', entry, { source: 'test' }).problems).toEqual([]);
    const { problems } = validateEntry('a', { ...base, [name]: () => 1 }, { source: 'test' });
    expect(problems).toMatchObject([{ field: name }]);
  });

  it('means the same as a missing field if it has its default.', () => {
    if (field.default === undefined) return;
    const { config } = validateEntry('a', { ...base, [name]: field.default }, { source: 'test' });
    expect(config).toEqual(validateEntry('a', base, { source: 'test' }).config);
  });

  it('means the same under each of its aliases.', () => {
    const { config } = validateEntry('a', entry, { source: 'test' });
    for (const alias of field.aliases ?? []) {
      const { [name]: _, ...others } = entry as Readonly<Record<string, unknown>>;
      const other = validateEntry('a', { ...others, [alias]: sample }, { source: 'test' }).config;
      // This one limits calls as well.
      expect(other).toEqual(alias === 'timeout' ? { ...config, callTimeoutMs: sample } : config);
    }
  });

  it('needs a new session after a change only if the table says so.', async () => {
    const [before, after] = await Promise.all([loaded(base), loaded(entry)]);
    const { changed } = diffServers(before.servers, after, {});
    expect(changed.map(({ needsSession }) => needsSession)).toEqual([field.onReload === 'restart']);
  });

  it('is described in the published schema and in the reference.', () => {
    const { properties } = PUBLISHED.properties.mcpServers.additionalProperties;
    for (const spelling of [name, ...(field.aliases ?? [])])
      expect(properties[spelling]).toMatchObject({ description: expect.stringMatching(/\.$/) });
    expect(REFERENCE_ROWS).toContain(name);
  });

  it('is suggested if it is misspelt.', () => {
    if (name.length < 4) return;
    const { problems } = validateEntry('a', { ...base, [`${name}x`]: sample }, { source: 'test' });
    expect(problems).toMatchObject([
      { severity: 'warning', field: `${name}x`, message: expect.stringContaining(`'${name}'`) },
    ]);
  });
});
