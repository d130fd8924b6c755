/** How the manager handles a connection that crashes. */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor, fromPromise } from 'xstate';
import { describe, expect, it } from 'vitest';
import { crashFailure } from '../../../machines/connection/connection.crash.js';
import type { ConnectionInput } from '../../../machines/connection/connection.events.js';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import type { ManagerEmitted } from '../../../machines/manager/manager.events.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { withConnectionFilter } from '../../../src/actor-system/event-filter.js';
import { PLAIN_POLICY } from '../../support/connection-driver.js';
import { childSpec, ManagerDriver } from '../../support/manager-driver.js';

const INPUT = {
  startSlots: 1,
  slotHoldMs: 1_000,
  startGateMs: 1_000,
  cachedGateMs: 250,
  retryBurst: 1,
  retryEveryMs: 100,
};

async function ready(...names: string[]): Promise<ManagerDriver> {
  const driver = new ManagerDriver({ startSlots: 9 });
  await driver.start(...names);
  for (const name of names) await driver.settle(name, 'resolveConfig');
  await driver.bringUp(...names);
  return driver;
}

const crashes = ({ emitted }: ManagerDriver) => emitted.filter(({ type }) => type === 'crashed');

describe('the replacement of a crashed connection', () => {
  it('has failed with the cause, and the inherited session is released.', async () => {
    const driver = await ready('a');
    await driver.crash('a');
    expect(driver.pathOf('a')).toBe('failed.permanent.releasing');
    expect(driver.contextOf('a').failure).toMatchObject({
      code: 'internal',
      at: driver.clock.now(),
      message: expect.any(String) as unknown,
    });
    expect(driver.running('a')).toContain('releaseSession');
    await driver.settle('a', 'releaseSession');
    expect(driver.pathOf('a')).toBe('failed.permanent.waiting');
  });

  it('is announced before its first state.', async () => {
    const driver = await ready('a');
    driver.story.splice(0);
    await driver.crash('a');
    expect(driver.story).toEqual(['a: died', 'crashed a', 'a: failed.permanent.releasing']);
  });

  it('is retried as the next session of the same connection.', async () => {
    const driver = await ready('a');
    await driver.crash('a');
    await driver.settle('a', 'releaseSession');
    await driver.command('a', { type: 'connection.retry' });
    await driver.settle('a', 'resolveConfig');
    await driver.bringUp('a');
    expect(driver.pathOf('a')).toBe('ready.resting+current');
    expect(driver.contextOf('a')).toMatchObject({ generation: 2, failure: null });
  });

  it('opens nothing before the inherited session is released.', async () => {
    const driver = await ready('a');
    await driver.crash('a');
    await driver.fail('a', 'releaseSession', 'permanent', 'release');
    await driver.command('a', { type: 'connection.retry' });
    expect(driver.pathOf('a')).toBe('reconnecting.releasing');
  });

  it('gets the latest entry of the crashed one, even if no session uses it yet.', async () => {
    const driver = new ManagerDriver();
    await driver.start(childSpec('a', { transport: 'http', seed: 7, generation: 4 }));
    await driver.settle('a', 'resolveConfig');
    await driver.bringUp('a');
    const policy = { ...PLAIN_POLICY, maxAttempts: 9 };
    await driver.command('a', { type: 'connection.reload', transport: 'http', policy, wanted: false });
    await driver.crash('a');
    expect(driver.contextOf('a')).toMatchObject({ transport: 'http', seed: 7, issued: 6, policy });
  });

  it('knows whether the network is up.', async () => {
    const driver = await ready('a');
    await driver.network(false);
    await driver.crash('a');
    expect(driver.contextOf('a').online).toBe(false);
  });

  it('is counted once at the start: the first attempt is over when it has failed.', async () => {
    const driver = new ManagerDriver({ startSlots: 9 });
    await driver.start(childSpec('dead', { cached: true }), 'b');
    await driver.crash('dead');
    expect(driver.context).toMatchObject({ alive: 2, unsettled: 1, unsettledCached: 0 });
    await driver.crash('dead');
    expect(driver.context).toMatchObject({ alive: 2, unsettled: 1, unsettledCached: 0 });
  });

  it('does not crash again by itself.', async () => {
    const driver = await ready('a');
    for (let times = 1; times <= 3; times += 1) {
      await driver.crash('a');
      expect(crashes(driver)).toHaveLength(times);
      expect(driver.pathOf('a')).toBe('failed.permanent.releasing');
    }
  });

  it('passes the slot of the crashed one to the next in the queue, and requests none.', async () => {
    const driver = new ManagerDriver({ startSlots: 1 });
    await driver.start('a', 'b');
    await driver.settle('a', 'resolveConfig');
    await driver.settle('b', 'resolveConfig');
    await driver.crash('a');
    expect(driver.context.holders).toEqual(['b']);
    expect(driver.opened).toEqual(['a', 'b']);
  });
});

/** A policy with which every shutdown crashes. */
const BROKEN = { ...PLAIN_POLICY, stop: null } as never;

describe('a connection that crashes while it stops', () => {
  it('is replaced, so that the stop is orderly.', async () => {
    const driver = await ready('a');
    await driver.command('a', { type: 'connection.stop', reason: 'remove' });
    await driver.crash('a');
    expect(driver.pathOf('a')).toBe('shuttingDown.draining+ending');
    // The effects of the crashed one are stopped.
    await driver.settle('a', 'drainCalls');
    await driver.bringDown('a');
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'ended', output: { reason: 'remove' } });
    expect(driver.context.alive).toBe(0);
  });

  it('is given up if its replacement crashes in the same way.', async () => {
    const driver = await ready('a');
    await driver.command('a', { type: 'policy.changed', policy: BROKEN } as never);
    await driver.command('a', { type: 'connection.stop', reason: 'stop' });
    expect(crashes(driver)).toMatchObject([{ isReplaced: true }, { isReplaced: false }]);
    expect(driver.children).toEqual([]);
    expect(driver.context.alive).toBe(0);
  });

  it('is not replaced while everything closes.', async () => {
    const driver = await ready('a', 'b');
    await driver.stop();
    await driver.crash('a');
    expect(crashes(driver)).toMatchObject([{ name: 'a', isReplaced: false }]);
    expect(driver.context.alive).toBe(1);
    await driver.bringDown('b');
    expect(driver.state).toBe('closed');
  });
});

/** A manager whose connections run the given machine. */
async function managerOf(connection: unknown, ...specs: ReturnType<typeof childSpec>[]) {
  const manager = createActor(managerMachine.provide({ actors: { connection: connection as never } }), {
    input: INPUT,
  });
  const crashed: ManagerEmitted[] = [];
  manager.on('crashed', (event) => crashed.push(event));
  manager.start();
  manager.send({ type: 'manager.open' });
  manager.send({ type: 'manager.start', specs });
  await turn();
  const { value, context } = manager.getSnapshot();
  manager.stop();
  return { crashed, phase: value.phase, context };
}

describe('a connection whose context cannot be created', () => {
  /** Fails while its context is created. */
  const stillborn = () => {
    const machine = Object.create(connectionMachine) as typeof connectionMachine;
    machine.getInitialSnapshot = (_, input) => {
      throw new Error(`no context for ${(input as ConnectionInput).name}`);
    };
    return withConnectionFilter(machine, () => {});
  };

  it('is given up and counted, so that nothing waits for it.', async () => {
    const { crashed, phase, context } = await managerOf(
      stillborn(),
      childSpec('a'),
      childSpec('b', { cached: true }),
    );
    expect(crashed).toMatchObject([
      { name: 'a', isReplaced: false, failure: { code: 'internal' } },
      { name: 'b', isReplaced: false },
    ]);
    expect(phase).toBe('running');
    expect(context).toMatchObject({ alive: 0, unsettled: 0, unsettledCached: 0 });
  });
});

/** Crashes in its first state. */
const dyingOf = (thrown: unknown) =>
  fromPromise(() => {
    throw thrown;
  });

describe('an error without a crash record', () => {
  it.each([
    ['the message of an error', new TypeError('No such field.'), 'No such field.'],
    ['the text that was thrown', 'out of order', 'out of order'],
    ['"undefined" if nothing was thrown', undefined, 'undefined'],
  ])('is reported with %s, and no connection is replaced.', async (_, thrown, message) => {
    const { crashed, context } = await managerOf(dyingOf(thrown), childSpec('a'));
    const failure = crashFailure(message, 0);
    expect(crashed).toStrictEqual([{ type: 'crashed', name: 'a', failure, isReplaced: false }]);
    expect(context.alive).toBe(0);
  });
});
