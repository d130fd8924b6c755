import { describe, expect, it } from 'vitest';
import { toConfigFile } from '../../src/cli/config-file.js';
import { loadConfig } from '../../src/config/load.js';

describe('the file of an import', () => {
  it('gives the same servers again, variables and questions as they were written.', async () => {
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

  it('asks nobody where no entry does.', () => {
    expect(toConfigFile([])).toEqual({ mcpServers: {} });
  });
});
