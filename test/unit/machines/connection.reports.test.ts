/** What a connection reports to its parent and emits to its observers, field by field. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver, type DriverOptions } from '../../support/connection-driver.js';
import { childSpec, ManagerDriver } from '../../support/manager-driver.js';

/** A connection, with all its reports to its parent. */
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
  it('name the connection and what its start needs.', async () => {
    const { driver, reports } = reporting();
    await driver.bringUp();
    expect(reports).toStrictEqual([
      { type: 'child.wantsSlot', name: 'files', slot: true, retry: false },
      { type: 'child.leftStart', name: 'files' },
      { type: 'child.settled', name: 'files' },
    ]);
  });

  it('request a share of the budget if nobody asked for the attempt.', async () => {
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

  it('ask for nothing if the start needs nothing.', async () => {
    const { driver, reports } = reporting({ transport: 'in-process' });
    await driver.bringUp();
    expect(reports).toStrictEqual([
      { type: 'child.leftStart', name: 'files' },
      { type: 'child.settled', name: 'files' },
    ]);
  });
});

describe('the events of a connection', () => {
  it('contain every step of an attempt, with its result and duration.', async () => {
    const { driver } = reporting();
    await driver.advance(1);
    await driver.settle('resolveConfig');
    await driver.advance(10);
    await driver.fact({ type: 'slot.granted' });
    await driver.advance(2);
    await driver.settle('openTransport', { pid: 4_711, url: 'https://example.com/mcp' });
    const server = {
      info: { name: 'sample', version: '1.0.0' },
      capabilities: {},
      protocolVersion: '2025-11-25',
      instructions: 'Be kind.',
    };
    await driver.advance(3);
    await driver.settle('handshake', { server });
    await driver.advance(4);
    await driver.settle('readTools');
    await driver.settle('adoptTools', { hash: 'catalog-1', tools: 3 });
    const generation = 1;
    expect(driver.emitted).toStrictEqual([
      { type: 'attempting', generation, configuringMs: 1 },
      {
        type: 'opened',
        generation,
        transport: 'stdio',
        pid: 4_711,
        url: 'https://example.com/mcp',
        queuedMs: 10,
        launchingMs: 2,
      },
      { type: 'initialized', generation, server, handshakingMs: 3 },
      { type: 'listed', generation, listingMs: 4 },
      { type: 'adopted', generation, hash: 'catalog-1', tools: 3 },
      { type: 'ready', generation, at: driver.clock.now() },
    ]);
  });

  it('contain a loss, and the next attempt.', async () => {
    const { driver } = reporting();
    await driver.bringUp('openTransport');
    await driver.fail('openTransport', 'retry');
    await driver.settle('releaseSession');
    const failure = driver.failure('retry', 'launch');
    const at = driver.clock.now();
    expect(driver.emitted.slice(1)).toStrictEqual([
      { type: 'released' },
      { type: 'retrying', attempt: 2, maxAttempts: 5, delayMs: 1_000, at, failure },
    ]);
  });

  const ONE_SIGN_IN = { restarts: 1, periodMs: 60_000 };

  it.each([
    ['tried again', 'retry', {}, []],
    ['out of attempts', 'retry', { maxAttempts: 1 }, ['failed']],
    ['in a crash loop', 'retry', { intensity: { restarts: 1, periodMs: 30_000 } }, ['failed']],
    ['failed for good', 'permanent', {}, ['failed']],
    ['to be signed in', 'authorize', {}, []],
    ['signed in in vain', 'authorize', { signIns: ONE_SIGN_IN }, ['failed']],
  ] as const)('start with the loss, if it is %s (%s).', async (_, how, policy, after) => {
    const { driver } = reporting({ transport: 'http', policy });
    await driver.bringUp('openTransport');
    await driver.fail('openTransport', 'authorize');
    await driver.settle('releaseSession');
    await driver.settle('authorize');
    await driver.bringUp();
    driver.emitted.splice(0);
    await driver.lose(how);
    expect(driver.emitted.map(({ type }) => type)).toEqual(['lost', ...after]);
    expect(driver.emitted[0]).toEqual({ type: 'lost', failure: driver.failure(how, 'session') });
  });

  it('contain that a user is needed.', async () => {
    const { driver } = reporting();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(driver.emitted).toStrictEqual([{ type: 'trustRequired' }]);
  });

  it('contain why the open session still has the former entry.', async () => {
    const { driver } = reporting({ transport: 'http' });
    await driver.bringUp();
    await driver.command('connection.reload');
    await driver.settle('resolveConfig');
    const failure = driver.failure('retry', 'launch');
    await driver.fail('openTransport', failure);
    expect(driver.emitted.at(-1)).toStrictEqual({ type: 'outdated', failure });
  });
});

describe('a remote server that is out of attempts', () => {
  it('is retried forever however short its slow interval is, and never without one.', async () => {
    for (const [remoteEveryMs, path] of [
      [1, 'failed.exhausted.retryingSlowly'],
      [0, 'failed.exhausted.resting'],
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

describe('the manager', () => {
  it('forwards when the network came back.', async () => {
    const driver = new ManagerDriver();
    await driver.start(childSpec('web', { transport: 'http' }));
    await driver.network(false);
    await driver.bringUp('web');
    await driver.lose('web', 'retry');
    await driver.settle('web', 'releaseSession');
    expect(driver.pathOf('web')).toBe('reconnecting.offline');
    await driver.send({ type: 'network.changed', online: true, at: 1_234_567 });
    expect(driver.contextOf('web').at).toBe(1_234_567);
  });
});
