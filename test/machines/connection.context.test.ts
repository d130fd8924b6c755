/** The whole context of a connection, field by field, at the moments that others read it at. */
import { describe, expect, it } from 'vitest';
import type { ConnectionContext } from '../../machines/connection.events.js';
import { planNetworkRetry } from '../../machines/connection.update.js';
import { ConnectionDriver, PLAIN_POLICY, type DriverOptions } from '../support/connection-driver.js';

const START = 1_000_000;

const NEW: ConnectionContext = {
  name: 'files',
  transport: 'stdio',
  policy: PLAIN_POLICY,
  seed: 1,
  generation: 0,
  online: true,
  wanted: true,
  cached: false,
  intent: null,
  issued: 0,
  next: null,
  outdated: null,
  retiring: null,
  released: true,
  reportedSettled: false,
  unasked: false,
  attempt: 0,
  delayMs: 0,
  nextAttemptAt: null,
  losses: [],
  configHash: null,
  at: 0,
  readyAt: null,
  pid: null,
  url: null,
  server: null,
  counts: { tools: 0, resources: 0, resourceTemplates: 0, prompts: 0 },
  catalogHash: null,
  failure: null,
  lastExit: null,
  listChangedAt: null,
  extras: { listing: ['resources', 'prompts'], due: [], dueSince: null },
  timings: { configuringMs: null, queuedMs: null, launchingMs: null, handshakingMs: null, listingMs: null },
};

const READY: ConnectionContext = {
  ...NEW,
  generation: 1,
  issued: 1,
  released: false,
  reportedSettled: true,
  attempt: 1,
  configHash: 'config-1',
  at: START,
  readyAt: START,
  pid: 4_711,
  server: {
    info: { name: 'sample', version: '1.0.0' },
    capabilities: { tools: { listChanged: true } },
    protocolVersion: '2025-11-25',
    instructions: null,
  },
  counts: { tools: 3, resources: 2, resourceTemplates: 1, prompts: 4 },
  catalogHash: 'catalog-1',
  timings: { configuringMs: 0, queuedMs: 0, launchingMs: 0, handshakingMs: 0, listingMs: 0 },
};

async function ready(options?: DriverOptions): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver(options);
  await driver.bringUp();
  return driver;
}

describe('the context of a connection', () => {
  it('is empty at the start, and every field of it is there.', () => {
    expect(new ConnectionDriver().context).toStrictEqual(NEW);
  });

  it('tells of the session when it is ready.', async () => {
    expect((await ready()).context).toStrictEqual(READY);
  });

  it('tells of the loss, and of the next attempt once the old session is gone.', async () => {
    const driver = await ready();
    await driver.advance(5_000);
    const at = START + 5_000;
    await driver.lose('retry', { exit: { code: 3, signal: null } });
    const failure = driver.failure('retry', 'session', { exit: { code: 3, signal: null } });
    const lost = {
      ...READY,
      at,
      failure,
      lastExit: failure.exit,
      losses: [at],
      unasked: true,
      readyAt: null,
      pid: null,
    };
    expect(driver.context).toStrictEqual(lost);
    await driver.settle('releaseSession');
    expect(driver.context).toStrictEqual({ ...lost, released: true, nextAttemptAt: at });
  });

  it('keeps the cause and the attempts when it has given up, and both are told.', async () => {
    const driver = await ready({ policy: { maxAttempts: 1 } });
    await driver.lose('retry');
    expect(driver.emitted.at(-1)).toStrictEqual({
      type: 'failed',
      failure: driver.failure('retry', 'session'),
      attempt: 1,
      maxAttempts: 1,
    });
    await driver.settle('releaseSession');
    expect(driver.context).toMatchObject({
      released: true,
      pid: null,
      attempt: 1,
      delayMs: 0,
      unasked: false,
    });
  });

  it.each([
    ['resting, with its cause passed', 'retry', { released: true, pid: null }],
    ['settled for good', 'permanent', { released: true, pid: null }],
  ] as const)('knows in %s that nothing is alive.', async (_, verdict, known) => {
    const driver = await ready({ policy: { maxAttempts: 1 } });
    await driver.lose(verdict);
    await driver.advance(70);
    await driver.settle('releaseSession');
    expect(driver.context).toMatchObject({ ...known, at: START + 70 });
  });

  it('has forgotten what went wrong when it rests, and what it was.', async () => {
    const driver = await ready();
    await driver.watcher('session.idle');
    await driver.advance(30);
    await driver.settle('drainCalls');
    await driver.settle('closeSession');
    expect(driver.context).toStrictEqual({
      ...READY,
      intent: null,
      wanted: false,
      released: true,
      attempt: 0,
      at: START + 30,
      readyAt: null,
      pid: null,
    });
  });

  it('has other numbers from the moment that they are told.', async () => {
    const driver = await ready();
    const policy = { ...PLAIN_POLICY, maxAttempts: 1 };
    await driver.fact({ type: 'policy.changed', policy });
    expect(driver.context).toStrictEqual({ ...READY, policy });
    await driver.lose('retry');
    expect(driver.path).toBe('failed.releasing');
  });

  it('holds what a person who said no should know.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    await driver.command('trust.denied');
    expect(driver.context.failure).toStrictEqual({
      code: 'trust-denied',
      message: "'files' was not approved.",
      phase: 'configure',
      at: START,
      hint: 'Retry it to be asked again.',
    });
  });
});

describe('the moment at which a remote server is tried when the network is back', () => {
  it('is drawn from two seconds, both ends included.', () => {
    const delays = Array.from({ length: 40_000 }, (_, seed) => planNetworkRetry({ ...NEW, seed }, 7).delayMs);
    expect([Math.min(...delays.map(Number)), Math.max(...delays.map(Number))]).toEqual([0, 2_000]);
  });

  it('needs its turn and is told beforehand.', () => {
    const planned = planNetworkRetry(NEW, 7);
    expect(planned).toMatchObject({ at: 7, unasked: true, nextAttemptAt: 7 + Number(planned.delayMs) });
  });
});
