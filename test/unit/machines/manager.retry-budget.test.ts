import { describe, expect, it } from 'vitest';
import { childSpec, ManagerDriver, type ManagerDriverOptions } from '../../support/manager-driver.js';

const NAMES = ['a', 'b', 'c', 'd', 'e'];

/** Five remote servers that were ready and are lost together; the budget allows two retries at once and one per second. */
async function lostTogether(input: ManagerDriverOptions = {}): Promise<ManagerDriver> {
  const driver = new ManagerDriver({ retryBurst: 2, retryEveryMs: 1_000, ...input });
  await driver.start(...NAMES.map((name) => childSpec(name, { transport: 'http' })));
  await driver.bringUp(...NAMES);
  for (const name of NAMES) await driver.lose(name, 'retry');
  for (const name of NAMES) await driver.settle(name, 'releaseSession');
  await driver.advance(0);
  for (const name of NAMES) await driver.settle(name, 'resolveConfig');
  return driver;
}

const retried = (driver: ManagerDriver): string[] => driver.opened.slice(NAMES.length);

describe('the retry budget', () => {
  it('lets as many servers of a lost fleet retry at once as it has tokens, and then one after the other.', async () => {
    const driver = await lostTogether();
    expect(retried(driver)).toEqual(['a', 'b']);
    expect(driver.waiting).toEqual(['c', 'd', 'e']);
    await driver.advance(999);
    expect(retried(driver)).toEqual(['a', 'b']);
    await driver.advance(1);
    expect(retried(driver)).toEqual(['a', 'b', 'c']);
    await driver.advance(2_000);
    expect(retried(driver)).toEqual(NAMES);
  });

  it('fills up again, and leaves no timer then.', async () => {
    const driver = await lostTogether();
    await driver.advance(5_000);
    expect(driver.context.retries).toBe(2);
    expect(driver.clock.pending).toEqual([]);
  });

  it('is not needed for a request of a user.', async () => {
    const driver = await lostTogether();
    await driver.command('e', { type: 'connection.restart' });
    await driver.bringDown('e');
    await driver.settle('e', 'resolveConfig');
    expect(retried(driver)).toEqual(['a', 'b', 'e']);
    expect(driver.waiting).toEqual(['c', 'd']);
  });

  it('is not spent on a server that is stopped while it waits.', async () => {
    const driver = await lostTogether();
    await driver.command('c', { type: 'connection.stop', reason: 'stop' });
    expect(driver.waiting).toEqual(['d', 'e']);
    await driver.advance(1_000);
    expect(retried(driver)).toEqual(['a', 'b', 'd']);
  });

  it('is not needed for a first start, however many servers there are.', async () => {
    const driver = new ManagerDriver({ retryBurst: 1, retryEveryMs: 1_000 });
    await driver.start(...NAMES.map((name) => childSpec(name, { transport: 'http' })));
    for (const name of NAMES) await driver.settle(name, 'resolveConfig');
    expect(driver.opened).toEqual(NAMES);
  });

  it('does not delay the first start of a program, and a start slot does not delay the retry of a remote server.', async () => {
    const driver = new ManagerDriver({ startSlots: 1, retryBurst: 1, retryEveryMs: 1_000 });
    await driver.start(childSpec('far', { transport: 'http' }), childSpec('further', { transport: 'http' }));
    await driver.bringUp('far', 'further');
    for (const name of ['far', 'further']) {
      await driver.lose(name, 'retry');
      await driver.settle(name, 'releaseSession');
    }
    await driver.advance(0);
    await driver.settle('far', 'resolveConfig');
    await driver.settle('further', 'resolveConfig');
    for (const name of ['one', 'two']) {
      await driver.add(name);
      await driver.settle(name, 'resolveConfig');
    }
    expect(driver.opened.slice(2)).toEqual(['far', 'one']);
    expect(driver.waiting).toEqual(['further', 'two']);
    await driver.advance(1_000);
    expect(driver.opened.slice(2)).toEqual(['far', 'one', 'further']);
  });

  it('ends with the fleet: nothing is granted and no timer is left once the manager stops.', async () => {
    const driver = await lostTogether();
    await driver.stop();
    expect(driver.context).toMatchObject({ waiting: [], retries: 2 });
    expect(driver.clock.pending).toEqual([]);
    expect(retried(driver)).toEqual(['a', 'b']);
  });
});

describe('the retry budget of a host in a fleet', () => {
  const asking = (driver: ManagerDriver): string[] =>
    driver.context.waiting.filter(({ asksFleet }) => asksFleet === true).map(({ name }) => name);
  const allow = async (driver: ManagerDriver, name: string): Promise<unknown> =>
    driver.send({ type: 'retry.allowed', name });

  it('lets a server retry that has its share here and is allowed by the fleet, in any order.', async () => {
    const driver = await lostTogether({ sharesRetries: true });
    expect([retried(driver), asking(driver)]).toEqual([[], ['a', 'b']]);
    await allow(driver, 'c');
    await allow(driver, 'b');
    await allow(driver, 'b');
    expect([retried(driver), asking(driver)]).toEqual([['b'], ['a']]);
    await driver.advance(1_000);
    expect(asking(driver)).toEqual(['a', 'c']);
    await allow(driver, 'c');
    expect([retried(driver), driver.waiting]).toEqual([
      ['b', 'c'],
      ['a', 'd', 'e'],
    ]);
  });

  it('delays no request of a user, and nobody asks for a server that was stopped.', async () => {
    const driver = await lostTogether({ sharesRetries: true });
    await driver.command('a', { type: 'connection.restart' });
    await driver.bringDown('a');
    await driver.settle('a', 'resolveConfig');
    await driver.command('b', { type: 'connection.stop', reason: 'stop' });
    expect([retried(driver), asking(driver)]).toEqual([['a'], []]);
    await allow(driver, 'b');
    expect(retried(driver)).toEqual(['a']);
  });

  it('ends with the troupe.', async () => {
    const driver = await lostTogether({ sharesRetries: true });
    await driver.stop();
    await allow(driver, 'a');
    expect([retried(driver), driver.waiting, driver.clock.pending]).toEqual([[], [], []]);
  });
});
