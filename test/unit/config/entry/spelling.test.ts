import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entryHash } from '../../../../src/config/entry/spelling.js';
import { hashOf } from '../../../../src/json/json-hash.js';
import { parseConfigText } from '../../../../src/config/files/parse-config.js';
import { validateEntry } from '../../../../src/config/entry/validate-entry.js';
import type { ServerConfig } from '../../../../src/config/entry/server-config.js';

function hash(entry: unknown): string {
  const { config } = validateEntry('lamp', entry, { source: 'kit' });
  if (config === undefined) throw new Error('the entry is refused');
  return entryHash(config);
}

const ENTRY = { command: 'lamp', args: ['-a', '-b'], env: { A: '1', B: '2' } };

describe('the hash of an entry', () => {
  it('is 64 hexadecimal digits that do not change from version to version', () => {
    expect(hash({ command: 'lamp' })).toBe(hashOf({ command: 'lamp', type: 'stdio' }));
    expect(hashOf({ b: [1, { d: 1, c: 2 }], a: 'x' })).toBe(
      '9df6720e995f95a9e407bf04ed307e038c1f78fd563b0835d3f4671a60532ac3',
    );
  });

  it('covers a key named __proto__', () => {
    expect(hashOf(JSON.parse('{"__proto__":{"a":1}}'))).not.toBe(hashOf({}));
    expect(hashOf(JSON.parse('{"__proto__":{"a":1}}'))).not.toBe(hashOf(JSON.parse('{"__proto__":{"a":2}}')));
  });

  it.each<[story: string, entry: object]>([
    ['the order of its fields', { env: { B: '2', A: '1' }, args: ['-a', '-b'], command: 'lamp' }],
    ['a description', { ...ENTRY, description: 'a lamp', icon: 'x' }],
    ['approvals of another host', { ...ENTRY, autoApprove: ['all'], alwaysAllow: [] }],
    ['a default written out', { ...ENTRY, enabled: true, type: 'stdio', start: 'eager' }],
    ['nulls', { ...ENTRY, cwd: null, url: null }],
    ['an alias', { command: ['lamp', '-a'], args: ['-b'], environment: ENTRY.env }],
  ])('does not change with %s', (_, entry) => {
    expect(hash(entry)).toBe(hash(ENTRY));
  });

  it.each<[story: string, entry: object]>([
    ['the command', { ...ENTRY, command: 'lamps' }],
    ['the order of arguments', { ...ENTRY, args: ['-b', '-a'] }],
    ['how arguments are divided', { ...ENTRY, args: ['-a -b'] }],
    ['a value of env', { ...ENTRY, env: { A: '1', B: '3' } }],
    ['a reference', { ...ENTRY, env: { A: '1', B: '${B}' } }],
    ['the working directory', { ...ENTRY, cwd: 'x' }],
    ['what is inherited', { ...ENTRY, inheritEnv: true }],
    ['a filter', { ...ENTRY, tools: { deny: ['x'] } }],
    ['being switched off', { ...ENTRY, disabled: true }],
  ])('changes with %s', (_, entry) => {
    expect(hash(entry)).not.toBe(hash(ENTRY));
  });

  it('distinguishes an address with a type from one that may fall back', () => {
    expect(hash({ url: 'http://x/' })).not.toBe(hash({ type: 'http', url: 'http://x/' }));
  });

  it('does not cover the object of an in-process server', () => {
    const entry = (): ServerConfig => ({ type: 'in-process', server: { connect: () => Promise.resolve() } });
    expect(entryHash(entry())).toBe(entryHash(entry()));
  });

  it('shows a reload which servers changed', () => {
    const hashes = (name: string) => {
      const text = readFileSync(new URL(`../fixtures/${name}.mcp.json`, import.meta.url), 'utf8');
      return new Map(
        parseConfigText(text, name).entries.map((entry) => [entry.name, entryHash(entry.config)]),
      );
    };
    const before = hashes('reload-before');
    const after = hashes('reload-after');
    expect(after.get('stays')).toBe(before.get('stays'));
    expect(after.get('changes')).not.toBe(before.get('changes'));
  });
});
