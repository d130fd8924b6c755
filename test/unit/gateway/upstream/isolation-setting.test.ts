/** The setting of an entry that decides which clients share its connection. */
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/servers/load-config.js';
import { answersOf } from '../../../../src/gateway/upstream/client-capabilities.js';
import { isOwn } from '../../../../src/gateway/upstream/isolation.js';
import type { ServerConfig } from '../../../../src/config/entry/server-config.js';

async function read(entry: object): Promise<Awaited<ReturnType<typeof loadConfig>>> {
  return loadConfig({ servers: { a: entry as ServerConfig }, cwd: '/' });
}

async function owns(entry: object, declared: unknown): Promise<boolean> {
  const { servers, refused } = await read(entry);
  const [row] = [...servers, ...refused];
  if (row === undefined) throw new Error('no row');
  return isOwn(row, answersOf(declared));
}

describe('the field isolation', () => {
  it('is per-session or shared, and other values are refused with the expected ones', async () => {
    for (const isolation of ['per-session', 'shared']) {
      const { servers, problems } = await read({ command: 'x', isolation });
      expect(servers[0]?.config.isolation).toBe(isolation);
      expect(problems).toEqual([]);
    }
    const { servers, problems } = await read({ command: 'x', isolation: 'private' });
    expect(servers).toEqual([]);
    expect(problems).toMatchObject([{ code: 'unknown-value', field: 'isolation' }]);
  });

  it('takes precedence over the capabilities of a client, which decide if it is not set', async () => {
    const asking = { elicitation: {} };
    expect(await owns({ command: 'x' }, asking)).toBe(true);
    expect(await owns({ command: 'x' }, { experimental: {}, tasks: {} })).toBe(false);
    expect(await owns({ command: 'x', isolation: 'shared' }, asking)).toBe(false);
    expect(await owns({ command: 'x', isolation: 'per-session' }, {})).toBe(true);
    expect(await owns({ command: 'x', isolation: 'per-session', enabled: false }, asking)).toBe(false);
    expect(await owns({ command: '' }, asking)).toBe(false);
  });

  it('only depends on the capabilities that answer questions', () => {
    const roots = { listChanged: true };
    expect(answersOf({ roots, sampling: 'yes', experimental: { x: {} }, tasks: {} })).toEqual({ roots });
    expect(answersOf(null)).toEqual({});
  });
});
