import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/servers/load-config.js';
import { isError } from '../../../../src/config/entry/problem.js';
import { CONFIG_SCHEMA } from '../../../../src/config/entry/published-schema.js';
import { validateEntry } from '../../../../src/config/entry/validate-entry.js';

// The keywords that the schema uses mean the same in 2020-12 and in the draft that this validator supports.
const { $schema: _, ...schema } = CONFIG_SCHEMA;
const check = new Ajv({ strict: false }).compile(schema);
const accepts = (entry: unknown): boolean => check({ mcpServers: { a: entry } });

/** The codes of values that the schema describes. */
const OF_SHAPE = new Set(['wrong-type', 'unknown-value', 'out-of-range']);

describe('the published schema', () => {
  it('is plain JSON that describes every field.', () => {
    expect(JSON.parse(JSON.stringify(CONFIG_SCHEMA))).toEqual(CONFIG_SCHEMA);
    expect(JSON.stringify(CONFIG_SCHEMA)).not.toContain('undefined');
  });

  it('is the file that editors are given.', async () => {
    const file = fileURLToPath(new URL('../../../../docs/reference/mcp.schema.json', import.meta.url));
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(CONFIG_SCHEMA);
  });

  it.each([
    ['json', '{ "$schema": "./mcp.schema.json", "mcpServers": { "a": { "command": "x", "$schema": "y" } } }'],
    ['toml', '"$schema" = "./mcp.schema.json"\n[mcp_servers.a]\ncommand = "x"'],
    ['yaml', '$schema: ./mcp.schema.json\nmcpServers: { a: { command: x } }'],
  ])('may be named in a file without a warning (%s).', async (syntax, text) => {
    const { servers, problems } = await loadConfig({ config: `a.${syntax}`, cwd: '/srv' }, async () => text);
    expect([servers.map(({ name }) => name), problems]).toEqual([['a'], []]);
    expect(check({ $schema: './mcp.schema.json', mcpServers: {} })).toBe(true);
  });

  it.each([
    [{ command: 'x', args: ['a'], env: { A: '1' }, timeout: 5 }],
    [{ command: ['x', 'y'] }],
    [{ type: 'streamable-http', url: 'https://a.example/', headers: { A: '${B}' } }],
    [{ serverUrl: 'https://a.example/', unknownField: true }],
    [{ command: 'x', tools: ['a'], policy: { maxAttempts: 3, backoff: [1, 2] } }],
  ])('accepts a valid entry: %j', (entry) => {
    expect(accepts(entry)).toBe(true);
  });

  it.each([
    [{}],
    [{ command: 5 }],
    [{ command: 'x', args: 'y' }],
    [{ command: 'x', type: 'carrier-pigeon' }],
    [{ command: 'x', env: { A: 1 } }],
    [{ command: 'x', timeout: -1 }],
    [{ command: 'x', policy: { nope: 1 } }],
    ['x'],
  ])('refuses an invalid entry: %j', (entry) => {
    expect(accepts(entry)).toBe(false);
  });

  it('refuses only entries that the validator reports, too.', () => {
    const word = fc.constantFrom('x', 'stdio', 'http', 'https://a.example/', '');
    const value = fc.oneof(word, fc.integer(), fc.boolean(), fc.array(word), fc.dictionary(word, word));
    const field = fc.constantFrom(
      'command',
      'args',
      'env',
      'url',
      'type',
      'headers',
      'timeout',
      'startTimeoutMs',
      'enabled',
      'tools',
    );
    fc.assert(
      fc.property(fc.dictionary(field, value), (entry) => {
        const { problems } = validateEntry('a', entry, { source: 'kit' });
        if (!accepts(entry)) expect(problems.length).toBeGreaterThan(0);
        else expect(problems.filter(isError).filter(({ code }) => OF_SHAPE.has(code))).toEqual([]);
      }),
    );
  });
});
