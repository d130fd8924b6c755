import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toConfigFile } from '../../../src/cli/import-file.js';
import { loadConfig } from '../../../src/servers/load-config.js';

describe('an imported file', () => {
  it('yields the same servers again, with variables and questions as they were written.', async () => {
    const text = JSON.stringify({
      servers: {
        a: {
          command: 'x',
          args: ['${input:room}', '$HOME', '${A:-b}'],
          env: { K: '${input:key}' },
          disabled: true,
        },
        b: { url: 'https://b.example/${P}', headers: { H: 'literal' }, tools: ['t*'] },
      },
      inputs: [
        { id: 'room', type: 'pickString', options: ['hall', 'yard'] },
        { id: 'key', type: 'promptString', password: true },
        { id: 'unused', type: 'promptString' },
      ],
    });
    const first = await loadConfig({ config: 'a.json', cwd: '/srv' }, () => Promise.resolve(text));
    const written = toConfigFile(first.servers);
    expect(written).toMatchObject({
      inputs: [
        { id: 'key', type: 'promptString', password: true },
        { id: 'room', type: 'pickString', options: ['hall', 'yard'] },
      ],
    });
    const again = await loadConfig({ config: 'a.json', cwd: '/srv' }, () =>
      Promise.resolve(JSON.stringify(written)),
    );
    expect(again.problems).toEqual([]);
    expect(again.servers.map(({ name, hash }) => [name, hash])).toEqual(
      first.servers.map(({ name, hash }) => [name, hash]),
    );
  });

  it('keeps two inputs with the same id from different sources apart.', async () => {
    const texts: Record<string, object> = {
      [resolve('/srv/mine.json')]: {
        servers: { mine: { url: 'https://mine.example/${input:key}', headers: { H: '${input:key-2}' } } },
        inputs: [
          { id: 'key', password: true, description: 'My own' },
          { id: 'key-2', description: 'Another' },
        ],
      },
      [resolve('/srv/theirs.json')]: {
        servers: { theirs: { url: 'https://theirs.example/$$${input:key}' } },
        inputs: [{ id: 'key', description: 'Any word' }],
      },
    };
    const config = Object.keys(texts);
    const { servers } = await loadConfig({ config, cwd: '/srv' }, (path) =>
      Promise.resolve(JSON.stringify(texts[path])),
    );
    expect(toConfigFile(servers)).toEqual({
      mcpServers: {
        mine: { url: 'https://mine.example/${input:key}', headers: { H: '${input:key-2}' } },
        theirs: { url: 'https://theirs.example/$$${input:key-3}' },
      },
      inputs: [
        { id: 'key', type: 'promptString', description: 'My own', password: true },
        { id: 'key-2', type: 'promptString', description: 'Another', password: false },
        { id: 'key-3', type: 'promptString', description: 'Any word', password: false },
      ],
    });
  });

  it('has no inputs if no entry has any.', () => {
    expect(toConfigFile([])).toEqual({ mcpServers: {} });
  });
});
