/** The whole context of a connection, field by field, at the moments that others read it at. */
import { describe, expect, it } from 'vitest';
import type { ConnectionContext } from '../../machines/connection.events.js';
import { applyReload, applyPolicy, mustTakeTurns } from '../../machines/connection.succession.js';
import { canWaitLonger, planNetworkRetry, recordFailure } from '../../machines/connection.update.js';
import type { Failure } from '../../machines/policy/failure.js';
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

describe('what ends while something else has come up', () => {
  it('counts: the lists that have changed meanwhile, as they were.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp('enrichCatalog');
    await driver.extrasChanged('prompts');
    await driver.settle('enrichCatalog');
    expect(driver.context.counts).toEqual(READY.counts);
    expect(driver.context.extras).toMatchObject({ due: ['prompts'] });
  });

  it('counts: a session that was proven gone late.', async () => {
    const driver = await ready();
    await driver.lose('retry');
    await driver.fail('releaseSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    expect(driver.context).toMatchObject({ released: false });
    await driver.advance(9);
    await driver.settle('releaseSession');
    expect(driver.context).toMatchObject({ released: true, at: START + 9, nextAttemptAt: START + 9 });
  });
});

describe('the context of a connection whose entry has changed', () => {
  const policy = { ...PLAIN_POLICY, maxAttempts: 9 };

  it('is that of the new session, and of nothing that was read of the old.', async () => {
    const driver = await ready({ transport: 'http' });
    await driver.command({ type: 'connection.reload', transport: 'http', policy });
    await driver.advance(40);
    await driver.settle('prepareSession');
    expect(driver.context).toStrictEqual({
      ...READY,
      transport: 'http',
      policy,
      generation: 2,
      issued: 2,
      retiring: 1,
      configHash: 'config-2',
      at: START + 40,
      readyAt: START + 40,
      pid: null,
      server: { ...READY.server!, info: { name: 'successor', version: '2.0.0' } },
      counts: { tools: 5, resources: 0, resourceTemplates: 0, prompts: 0 },
      catalogHash: 'catalog-2',
      timings: { configuringMs: 1, queuedMs: 0, launchingMs: 2, handshakingMs: 3, listingMs: 4 },
    });
    await driver.lose('retry');
    await driver.settle('releaseSession');
    expect(driver.context).toMatchObject({ retiring: null, released: true });
  });

  it('takes over what it is told, and keeps the rest of what is to come.', () => {
    const next = { transport: 'sse' as const, policy: PLAIN_POLICY };
    expect(applyReload({ transport: 'http', policy })).toStrictEqual({
      transport: 'http',
      policy,
      next: null,
      outdated: null,
    });
    expect(applyPolicy({ ...NEW, next }, policy)).toStrictEqual({
      policy,
      next: { transport: 'sse', policy },
    });
    expect(applyPolicy(NEW, policy)).toStrictEqual({ policy, next: null });
  });

  it.each([
    ['a handshake that is refused with 400', 'handshake', 400, true],
    ['a handshake that is refused with 409', 'handshake', 409, true],
    ['a handshake that is refused with 403', 'handshake', 403, false],
    ['a launch that is refused with 409', 'launch', 409, false],
  ] as const)('may need the place of the old session: %s.', (_, phase, status, isSo) => {
    const failure: Failure = { code: 'http-status', message: 'No.', phase, at: 0, http: { status } };
    expect(mustTakeTurns(failure)).toBe(isSo);
  });
});

describe('the arithmetic of a context', () => {
  it('lets a first change wait, and a later one as long as the limit allows.', () => {
    expect(canWaitLonger(NEW, null, 1_000_000)).toBe(true);
    expect(canWaitLonger(NEW, 0, 1_700)).toBe(true);
    expect(canWaitLonger(NEW, 0, 1_701)).toBe(false);
  });

  it('tells a crash loop in whole seconds.', () => {
    const policy = { ...PLAIN_POLICY, intensity: { restarts: 1, periodMs: 1_001_000 } };
    const failure: Failure = { code: 'connection-lost', message: 'gone', phase: 'session', at: 0 };
    expect(recordFailure({ ...NEW, policy }, failure).failure?.message).toBe(
      'Lost 1 times within 1001 s and given up; the last time: gone',
    );
  });

  it('keeps the time of each step, and no wait of before once it is ready.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp('openTransport');
    await driver.fail('openTransport', 'retry');
    await driver.settle('releaseSession');
    await driver.advance(1_000);
    await driver.bringUp('openTransport');
    await driver.advance(20);
    await driver.settle('openTransport');
    expect(driver.context).toMatchObject({ at: START + 1_020, delayMs: 1_000 });
    await driver.bringUp();
    expect(driver.context).toMatchObject({ delayMs: 0, unasked: false, failure: null });
  });
});

describe('a remote server that is out of attempts', () => {
  async function exhausted(): Promise<ConnectionDriver> {
    const driver = new ConnectionDriver({ transport: 'http', policy: { maxAttempts: 2 } });
    await driver.bringUp('openTransport');
    await driver.fail('openTransport', 'retry');
    await driver.settle('releaseSession');
    await driver.advance(5_000);
    await driver.settle('resolveConfig');
    await driver.fact({ type: 'slot.granted' });
    await driver.fail('openTransport', 'retry');
    await driver.settle('releaseSession');
    expect(driver.path).toBe('failed.retryingSlowly');
    return driver;
  }

  it('is tried by the slow clock as one that nobody asked for.', async () => {
    const driver = await exhausted();
    const { delayMs, nextAttemptAt, at } = driver.context;
    expect(nextAttemptAt).toBe(at + delayMs);
    await driver.advance(delayMs);
    expect(driver.path).toBe('configuring.resolving');
    expect(driver.context).toMatchObject({ attempt: 1, unasked: true, delayMs: 0, nextAttemptAt: null });
  });

  it('is tried at a moment of its own when the network is back, as one that nobody asked for.', async () => {
    const driver = await exhausted();
    await driver.fact({ type: 'network.offline' });
    const { seed } = driver.context;
    const at = driver.clock.now();
    await driver.fact({ type: 'network.online', at });
    const { delayMs, seed: next } = planNetworkRetry({ ...NEW, seed }, at);
    expect(driver.context).toMatchObject({
      online: true,
      attempt: 1,
      unasked: true,
      at,
      delayMs,
      seed: next,
      nextAttemptAt: at + Number(delayMs),
    });
  });

  it('is tried for a call as one that somebody asked for.', async () => {
    const driver = await exhausted();
    await driver.fact({ type: 'call.waiting', at: driver.clock.now() + 30_000 });
    expect(driver.context).toMatchObject({ attempt: 1, unasked: false, delayMs: 0, nextAttemptAt: null });
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
