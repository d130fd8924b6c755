/** The start slots: how many servers may start in parallel, in which order, and how a slot is returned. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childSpec, ManagerDriver } from '../../support/manager-driver.js';

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `server-${index}`);

async function startAll(driver: ManagerDriver, names: readonly string[]): Promise<void> {
  await driver.start(...names);
  for (const name of names) await driver.settle(name, 'resolveConfig');
}

describe('start slots', () => {
  it('limit the number of parallel starts, first come, first served.', async () => {
    const driver = new ManagerDriver({ startSlots: 2 });
    await startAll(driver, ['a', 'b', 'c', 'd']);
    expect(driver.opened).toEqual(['a', 'b']);
    expect(driver.context.holders).toEqual(['a', 'b']);
    expect(driver.waiting).toEqual(['c', 'd']);
    await driver.bringUp('b');
    expect(driver.opened).toEqual(['a', 'b', 'c']);
    await driver.bringUp('a');
    expect(driver.opened).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are given in the order of the requests, not of the configuration.', async () => {
    const driver = new ManagerDriver({ startSlots: 1 });
    await driver.start('a', 'b', 'c');
    for (const name of ['c', 'a', 'b']) await driver.settle(name, 'resolveConfig');
    await driver.bringUp('c', 'a', 'b');
    expect(driver.opened).toEqual(['c', 'a', 'b']);
  });

  it('are not needed by remote servers, however many there are.', async () => {
    const driver = new ManagerDriver({ startSlots: 1 });
    const names = many(20);
    await driver.start(...names.map((name) => childSpec(name, { transport: 'http' })));
    for (const name of names) await driver.settle(name, 'resolveConfig');
    expect(driver.opened).toEqual(names);
  });

  it('are returned after the hold time although the start continues.', async () => {
    const driver = new ManagerDriver({ startSlots: 1, slotHoldMs: 2_000 });
    await startAll(driver, ['silent', 'next']);
    await driver.advance(1_999);
    expect(driver.opened).toEqual(['silent']);
    await driver.advance(1);
    expect(driver.opened).toEqual(['silent', 'next']);
    expect(driver.running('silent')).toEqual(['openTransport']);
    await driver.bringUp('silent');
    expect(driver.pathOf('silent')).toBe('ready.resting+current');
    expect(driver.context.holders).toEqual(['next']);
  });

  it('are taken from the longest holders if processor cores are idle while connections wait.', async () => {
    const driver = new ManagerDriver({ startSlots: 3, slotHoldMs: 2_000 });
    await startAll(driver, ['a', 'b', 'c', 'd', 'e', 'f']);
    await driver.send({ type: 'cores.idle', busyCores: 3 });
    expect(driver.context.holders).toEqual(['a', 'b', 'c']);
    await driver.send({ type: 'cores.idle', busyCores: 1 });
    expect(driver.context.holders).toEqual(['c', 'd', 'e']);
    expect(driver.waiting).toEqual(['f']);
    expect(driver.clock.pending.filter((ms) => ms === 2_000)).toHaveLength(3);
  });

  it('leave no timer if they are returned in time.', async () => {
    const driver = new ManagerDriver({ startSlots: 2 });
    await startAll(driver, ['a', 'b']);
    await driver.bringUp('a', 'b');
    expect(driver.clock.pending).toEqual([]);
  });

  it('are held for a full time again by a server that starts for the second time.', async () => {
    const driver = new ManagerDriver({ startSlots: 1, slotHoldMs: 2_000 });
    await startAll(driver, ['a']);
    await driver.advance(1_500);
    await driver.fail('a', 'openTransport', 'retry');
    await driver.settle('a', 'releaseSession');
    await driver.advance(1_000);
    await driver.settle('a', 'resolveConfig');
    await driver.add('b');
    await driver.settle('b', 'resolveConfig');
    await driver.advance(1_999);
    expect(driver.context.holders).toEqual(['a']);
    expect(driver.waiting).toEqual(['b']);
    await driver.advance(1);
    expect(driver.context.holders).toEqual(['b']);
    expect(driver.waiting).toEqual([]);
  });

  it.each([
    { how: 'fails', leave: (driver: ManagerDriver) => driver.fail('a', 'openTransport', 'retry') },
    { how: 'is given up', leave: (driver: ManagerDriver) => driver.fail('a', 'openTransport', 'permanent') },
    {
      how: 'waits for sign-in',
      leave: (driver: ManagerDriver) => driver.fail('a', 'openTransport', 'authorize'),
    },
    { how: 'is ready', leave: (driver: ManagerDriver) => driver.bringUp('a') },
    {
      how: 'is stopped',
      leave: (driver: ManagerDriver) => driver.command('a', { type: 'connection.stop', reason: 'stop' }),
    },
    {
      how: 'is restarted',
      leave: (driver: ManagerDriver) => driver.command('a', { type: 'connection.restart' }),
    },
    { how: 'dies', leave: (driver: ManagerDriver) => driver.crash('a') },
  ])('go to the next one at once if a server $how.', async ({ leave }) => {
    const driver = new ManagerDriver({ startSlots: 1 });
    await startAll(driver, ['a', 'b']);
    await leave(driver);
    expect(driver.opened).toEqual(['a', 'b']);
    expect(driver.context.holders).toEqual(['b']);
    expect(driver.waiting).toEqual([]);
    expect(driver.clock.pending.filter((ms) => ms === 2_000)).toHaveLength(1);
  });

  it('skip a server that was stopped while it waited.', async () => {
    const driver = new ManagerDriver({ startSlots: 1 });
    await startAll(driver, ['a', 'b', 'c']);
    await driver.command('b', { type: 'connection.stop', reason: 'stop' });
    await driver.bringUp('a');
    expect(driver.opened).toEqual(['a', 'c']);
  });

  it('are not lost to a server that became remote while it waited.', async () => {
    const driver = new ManagerDriver({ startSlots: 1 });
    await startAll(driver, ['a', 'b', 'c']);
    const { policy } = driver.contextOf('b');
    await driver.command('b', { type: 'connection.reload', transport: 'http', policy, wanted: false });
    expect(driver.context.holders).toEqual(['a']);
    expect(driver.waiting).toEqual(['c']);
  });

  it('keep ten silent servers of fifty from delaying the others for longer than the hold time.', async () => {
    const driver = new ManagerDriver({ startSlots: 4, slotHoldMs: 2_000 });
    const names = many(50);
    const silent = new Set(names.slice(0, 10));
    await startAll(driver, names);
    const startedAt = driver.clock.now();
    const isUp = (name: string): boolean => driver.pathOf(name).startsWith('ready.');
    const healthy = names.filter((name) => !silent.has(name));
    for (let round = 0; round < 10 && !healthy.every(isUp); round += 1) {
      for (let before = -1; before !== driver.opened.length;) {
        before = driver.opened.length;
        await driver.bringUp(...healthy.filter((name) => driver.running(name).includes('openTransport')));
      }
      if (!healthy.every(isUp)) await driver.advance(500);
    }
    expect(healthy.filter((name) => !isUp(name))).toEqual([]);
    expect(driver.clock.now() - startedAt).toBeLessThanOrEqual(3 * 2_000);
  });
});

describe('start slots in random sequences', () => {
  type Step = readonly [happening: string, server: number];

  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.tuple(
      fc.constantFrom(
        'resolve',
        'resolve',
        'up',
        'up',
        'fail',
        'release',
        'stop',
        'restart',
        'close',
        'wait',
        'die',
      ),
      fc.nat(5),
    ),
    { maxLength: 60, size: 'max' },
  );

  const isAlive = (driver: ManagerDriver, name: string): boolean => driver.children.includes(name);

  async function settleIfRunning(
    driver: ManagerDriver,
    name: string,
    slot: Parameters<ManagerDriver['settle']>[1],
  ): Promise<void> {
    if (driver.running(name).includes(slot)) await driver.settle(name, slot);
  }

  async function take(driver: ManagerDriver, [happening, server]: Step): Promise<void> {
    const name = `server-${server}`;
    if (happening === 'wait') await driver.advance(700);
    if (!isAlive(driver, name)) return;
    switch (happening) {
      case 'resolve':
        await settleIfRunning(driver, name, 'resolveConfig');
        return;
      case 'release':
        await settleIfRunning(driver, name, 'releaseSession');
        return;
      case 'close':
        await settleIfRunning(driver, name, 'drainCalls');
        await settleIfRunning(driver, name, 'closeSession');
        return;
      case 'up':
        await driver.bringUp(name);
        return;
      case 'fail':
        if (driver.running(name).includes('openTransport')) await driver.fail(name, 'openTransport', 'retry');
        return;
      case 'stop':
        await driver.command(name, { type: 'connection.stop', reason: 'stop' });
        return;
      case 'restart':
        await driver.command(name, { type: 'connection.restart' });
        return;
      case 'die':
        await driver.crash(name);
    }
  }

  function expectOrder(driver: ManagerDriver): void {
    const { holders, startSlots } = driver.context;
    const { waiting } = driver;
    expect(holders.length).toBeLessThanOrEqual(startSlots);
    expect(new Set([...holders, ...waiting]).size).toBe(holders.length + waiting.length);
    if (waiting.length > 0) expect(holders).toHaveLength(startSlots);
    for (const name of driver.children) {
      const isWaiting = driver.pathOf(name) === 'launching.waitingForSlot';
      expect(waiting.includes(name)).toBe(isWaiting);
    }
    const starting = /^(?:launching\.opening|handshaking\.(?:initializing|listing))$/;
    expect(holders.filter((name) => !starting.test(driver.pathOf(name)))).toEqual([]);
  }

  it('are never exceeded, never idle while a server waits, and leave no timer.', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), steps, async (startSlots, story) => {
        const driver = new ManagerDriver({ startSlots, slotHoldMs: 2_000 });
        await driver.start(...many(6));
        for (const step of story) {
          await take(driver, step);
          expectOrder(driver);
        }
        await driver.stop();
        expect(driver.context.holders).toEqual([]);
        expect(driver.waiting).toEqual([]);
        expect(driver.clock.pending).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
