/** What is told of a connection that dies of an error. */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor, fromPromise } from 'xstate';
import { expect, it } from 'vitest';
import { managerMachine, type ManagerEmitted } from '../../machines/manager.machine.js';
import { childSpec, ManagerDriver } from '../support/manager-driver.js';

/** A connection that dies of that in its first state. */
async function dyingOf(thrown: unknown): Promise<ManagerEmitted | undefined> {
  const connection = fromPromise(() => {
    throw thrown;
  }) as never;
  const manager = createActor(managerMachine.provide({ actors: { connection } }), {
    input: {
      startSlots: 1,
      slotHoldMs: 1_000,
      startGateMs: 1_000,
      cachedGateMs: 250,
      retryBurst: 1,
      retryEveryMs: 100,
    },
  });
  const crashes: ManagerEmitted[] = [];
  manager.on('crashed', (event) => crashes.push(event));
  manager.start();
  manager.send({ type: 'manager.start', specs: [childSpec('a')] });
  await turn();
  manager.stop();
  return crashes[0];
}

it.each([
  ['what an error says', new TypeError('No such field.'), 'No such field.'],
  ['a text that was thrown', 'out of order', 'out of order'],
  ['nothing, where nothing was thrown', undefined, 'undefined'],
])('tells %s.', async (_, thrown, message) => {
  expect(await dyingOf(thrown)).toEqual({ type: 'crashed', name: 'a', message });
});

it('tells it also of one that dies while everything is stopped.', async () => {
  const driver = new ManagerDriver();
  await driver.start('a', 'b');
  await driver.stop();
  await driver.crash('a');
  expect(driver.state).toBe('stopping');
  expect(driver.emitted).toContainEqual({ type: 'crashed', name: 'a', message: expect.stringMatching(/./) });
});
