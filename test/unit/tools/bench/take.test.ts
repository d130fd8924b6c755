import { describe, expect, it } from 'vitest';
import { loadScript, type Run } from '../../../support/tools/bench.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const { take } = await loadScript<{ take(job: object): Promise<Run & { readonly left?: number }> }>(
  'take.mjs',
);

const CALLS = { scenario: 'calls', name: 'floor', dist: '' };
const params = { kind: 'stdio', atOnce: 4, ms: 50, warmUpMs: 10 };

describe('one measurement', () => {
  it('runs in a separate process, which opens a real server, calls it, and leaves nothing behind.', async () => {
    const run = await take({ ...CALLS, params, limitMs: 15_000 });
    expect(run.error).toBeUndefined();
    expect(Object.keys(run.values!)).toEqual(['callUs', 'callsPerS', 'p50Us', 'p99Us', 'cpuUs']);
    expect(run.values!['callUs']).toBeGreaterThan(0);
    expect(run.left).toBeUndefined();
  });

  it('is ended at its limit, and reports that.', async () => {
    const run = await take({ ...CALLS, params: { ...params, warmUpMs: 60_000 }, limitMs: 1_500 });
    expect(run).toMatchObject({ error: 'not done within 1.5 s' });
  });

  it('reports why it failed.', async () => {
    const run = await take({
      scenario: 'import',
      name: 'troupe',
      dist: '/nowhere',
      params: { kind: 'stdio' },
    });
    expect(run.error).toMatch(/Cannot find module .*nowhere/);
  });
});
