/** Random stories of a connection, against a model written by hand. A failing one is told in words, with its seed. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TransportKind } from '../../machines/connection.events.js';
import { ConnectionDriver } from '../support/connection-driver.js';
import type { Slot } from '../support/held-effects.js';
import { STORIES, type Observed } from './connection-commands.js';
import { LEGAL_MOVES, LifecycleModel, MODEL_POLICY, type Start } from './lifecycle-model.js';

const starts: fc.Arbitrary<Start> = fc.record({
  transport: fc.constantFrom<TransportKind>('stdio', 'http', 'in-process'),
  wanted: fc.boolean(),
  online: fc.boolean(),
});

/** Nothing settles any more but by its own limit. */
async function stopHard(driver: ConnectionDriver): Promise<number> {
  let stops = 0;
  while (driver.path !== 'stopped' && driver.path !== 'shuttingDown.killing' && stops < 9) {
    stops += 1;
    await driver.command('connection.stop');
  }
  if (driver.path === 'shuttingDown.killing') {
    await driver.command('connection.stop');
    const [slot] = driver.running();
    await driver.fail(slot as Slot, 'permanent');
  }
  return stops;
}

describe('the connection chart and the model of it', () => {
  it('agree on every story, and every story can be brought to its end by three stops.', async () => {
    const visited = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        starts,
        fc.commands(STORIES, { maxCommands: 90, size: 'max' }),
        async (start, stories) => {
          const driver = new ConnectionDriver({ ...start, policy: MODEL_POLICY });
          await fc.asyncModelRun(
            () => ({
              model: new LifecycleModel(start),
              real: { driver, mayBeAlive: false, startedSeen: 0, movesSeen: 0 } satisfies Observed,
            }),
            stories,
          );
          for (const path of driver.history) visited.add(path.split('.')[0]!);
          expect(await stopHard(driver)).toBeLessThanOrEqual(3);
          expect(driver.path).toBe('stopped');
          expect(driver.running()).toEqual([]);
          expect(driver.clock.pending).toEqual([]);
        },
      ),
      { numRuns: 400 },
    );
    expect([...visited].toSorted()).toEqual(Object.keys(LEGAL_MOVES).toSorted());
  });
});
