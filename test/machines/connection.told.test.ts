/** What a connection tells its parent and whoever listens, word for word. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver, PLAIN_POLICY, type DriverOptions } from '../support/connection-driver.js';
import { childSpec, ManagerDriver } from '../support/manager-driver.js';

/** A connection, and the whole of every report to its parent. */
function reporting(options: DriverOptions = {}): { driver: ConnectionDriver; reports: object[] } {
  const reports: object[] = [];
  const driver = new ConnectionDriver({
    ...options,
    inspect: (event) => {
      if (event.type === '@xstate.event' && event.event.type.startsWith('child.')) reports.push(event.event);
    },
  });
  return { driver, reports };
}

describe('the reports to the parent', () => {
  it('name the connection, what its start needs, and whether its tools are cached.', async () => {
    const { driver, reports } = reporting({ cached: true });
    await driver.bringUp();
    expect(reports).toStrictEqual([
      { type: 'child.wantsSlot', name: 'files', slot: true, retry: false },
      { type: 'child.leftStart', name: 'files' },
      { type: 'child.settled', name: 'files', cached: true },
    ]);
  });

  it('ask for a share of the budget where nobody asked for the attempt.', async () => {
    const { driver, reports } = reporting({ transport: 'http' });
    await driver.bringUp('openTransport');
    expect(reports).toStrictEqual([]);
    await driver.fail('openTransport', 'retry');
    await driver.settle('releaseSession');
    await driver.advance(1_000);
    await driver.settle('resolveConfig');
    expect(reports.filter((report) => 'slot' in report)).toStrictEqual([
      { type: 'child.wantsSlot', name: 'files', slot: false, retry: true },
    ]);
  });

  it('say nothing of a start that needed none.', async () => {
    const { driver, reports } = reporting({ transport: 'in-process' });
    await driver.bringUp();
    expect(reports).toStrictEqual([{ type: 'child.settled', name: 'files', cached: false }]);
  });
});

describe('what is told to whoever listens', () => {
  it('is that it is ready, with the number of its tools.', async () => {
    const { driver } = reporting();
    await driver.bringUp();
    expect(driver.emitted).toStrictEqual([{ type: 'ready', toolCount: 3 }]);
  });

  it('is what was lost, and when the next attempt is.', async () => {
    const { driver } = reporting();
    await driver.bringUp('openTransport');
    await driver.fail('openTransport', 'retry');
    await driver.settle('releaseSession');
    const failure = driver.failure('retry', 'launch');
    expect(driver.emitted).toStrictEqual([
      { type: 'retrying', attempt: 2, maxAttempts: 5, delayMs: 1_000, failure },
    ]);
  });

  it('is that a person is needed.', async () => {
    const { driver } = reporting();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(driver.emitted).toStrictEqual([{ type: 'trustRequired' }]);
    const other = reporting().driver;
    await other.bringUp('openTransport');
    await other.fail('openTransport', 'authorize');
    expect(other.emitted).toStrictEqual([{ type: 'authRequired' }]);
  });

  it('is why the session in use is still that of the entry before.', async () => {
    const { driver } = reporting({ transport: 'http' });
    await driver.bringUp();
    await driver.command({ type: 'connection.reload', transport: 'http', policy: PLAIN_POLICY });
    const failure = driver.failure('retry', 'launch');
    await driver.fail('prepareSession', failure);
    expect(driver.emitted.at(-1)).toStrictEqual({ type: 'outdated', failure });
  });
});

describe('a remote server that is out of attempts', () => {
  it('is tried for ever however short its slow clock is, and never where it has none.', async () => {
    for (const [remoteEveryMs, path] of [
      [1, 'failed.retryingSlowly'],
      [0, 'failed.resting'],
    ] as const) {
      const policy = { maxAttempts: 1, exhausted: { callAfterMs: 30_000, remoteEveryMs } };
      const driver = new ConnectionDriver({ transport: 'http', policy });
      await driver.bringUp('openTransport');
      await driver.fail('openTransport', 'retry');
      await driver.settle('releaseSession');
      expect(driver.path).toBe(path);
    }
  });
});

describe('what the manager hands on', () => {
  it('is when the network came back.', async () => {
    const driver = new ManagerDriver();
    await driver.start(childSpec('web', { transport: 'http' }));
    await driver.network(false);
    await driver.bringUp('web');
    await driver.lose('web', 'retry');
    await driver.settle('web', 'releaseSession');
    expect(driver.pathOf('web')).toBe('reconnecting.offline');
    await driver.send({ type: 'network.changed', online: true, at: 1_234_567 });
    const { at, nextAttemptAt, delayMs } = driver.contextOf('web');
    expect([at, nextAttemptAt]).toEqual([1_234_567, 1_234_567 + delayMs]);
  });
});
