/** Every transition of the connection chart, walked through a whole troupe, and counted there. */
import { afterAll, describe, expect, it } from 'vitest';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { transitionCoverage } from '../../../src/testing/transition-coverage.js';
import { walkHost } from '../../../src/testing/walk-host.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { CONNECTION_PATHS } from './connection-paths.js';

const { paths } = CONNECTION_PATHS;
const coverage = transitionCoverage();

describe('a host', () => {
  useLeakCheck();
  afterAll(() => void process.stdout.write(`walked through a troupe: ${coverage.summary}\n`));

  it.each(paths.map((path) => [path.title, path] as const))('goes from %s.', async (_, path) => {
    const shown: string[] = [];
    await walkHost(path, {
      coverage,
      open: (options) => createTroupe(options),
      check: ({ status, troupe }) => {
        expect(troupe.status).toEqual([status]);
        shown.push(status.state);
      },
    });
    expect(shown).toHaveLength(path.steps.length + 1);
  });

  it('has taken every transition.', () => {
    expect(coverage.missing).toEqual([]);
    expect(coverage.total).toBe(paths.length);
  });

  it('fails the walk if it does not show what the path says.', async () => {
    const path = paths.find(({ steps }) => steps.length > 2)!;
    const other = { ...path, steps: path.steps.map((step) => ({ ...step, state: 'stopped' })) };
    await expect(walkHost(other, { open: (options) => createTroupe(options) })).rejects.toThrow(
      /should be "stopped"/,
    );
  });

  it('fails the walk if its options keep the troupe from starting.', async () => {
    const open = () => createTroupe({ servers: {}, cache: false });
    await expect(walkHost(paths[0]!, { open })).rejects.toThrow(/Pass on all options/);
  });
});
