/** The whole context of a connection, field by field, at the important moments. */
import { describe, expect, it } from 'vitest';
import type { ConnectionContext } from '../../../machines/connection/connection.events.js';
import {
  applyReload,
  applyPolicy,
  mustTakeTurns,
} from '../../../machines/connection/connection.succession.js';
import { canWaitLonger, planNetworkRetry } from '../../../machines/connection/connection.update.js';
import type { Failure } from '../../../machines/policy/failure.js';
import { ConnectionDriver, PLAIN_POLICY, type DriverOptions } from '../../support/connection-driver.js';

const START = 1_000_000;

const NEW: ConnectionContext = {
  name: 'files',
  transport: 'stdio',
  policy: PLAIN_POLICY,
  seed: 1,
  generation: 0,
  online: true,
  wanted: true,
  crash: null,
  issued: 0,
  next: null,
  retiring: null,
  stopReason: 'stop',
  isAttempted: false,
  unasked: false,
  attempt: 0,
  delayMs: 0,
  losses: [],
  signIns: [],
  at: 0,
  url: null,
  provenUrl: null,
  failure: null,
  era: 'old',
  subscription: { tries: 0, since: null },
  tools: { reading: ['tools'], due: [], dueSince: null },
  extras: { reading: ['resources', 'prompts'], due: [], dueSince: null },
};

const READY: ConnectionContext = {
  ...NEW,
  generation: 1,
  issued: 1,
  isAttempted: true,
  attempt: 1,
  at: START,
};

async function ready(options?: DriverOptions): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver(options);
  await driver.bringUp();
  return driver;
}

describe('the context of a connection', () => {
  it('starts empty, with every field present.', () => {
    expect(new ConnectionDriver().context).toStrictEqual(NEW);
  });

  it('knows the session when it is ready.', async () => {
    expect((await ready()).context).toStrictEqual(READY);
  });

  it('knows the loss and when the next attempt is due.', async () => {
    const driver = await ready();
    await driver.advance(5_000);
    const at = START + 5_000;
    await driver.lose('retry', { exit: { code: 3, signal: null } });
    const failure = driver.failure('retry', 'session', { exit: { code: 3, signal: null } });
    const lost = { ...READY, at, failure, losses: [at], unasked: true };
    expect(driver.context).toStrictEqual(lost);
    await driver.advance(30);
    await driver.settle('releaseSession');
    expect(driver.context).toStrictEqual({ ...lost, at: at + 30 });
  });

  it('keeps the cause and the attempts when it gives up, and emits both.', async () => {
    const driver = await ready({ policy: { maxAttempts: 1 } });
    await driver.lose('retry');
    expect(driver.emitted.at(-1)).toStrictEqual({
      type: 'failed',
      failure: driver.failure('retry', 'session'),
      attempt: 1,
      maxAttempts: 1,
    });
    await driver.settle('releaseSession');
    expect(driver.context).toMatchObject({ attempt: 1, delayMs: 0, unasked: false });
  });

  it.each([
    ['exhausted', 'retry'],
    ['failed for good', 'permanent'],
  ] as const)('has, once %s, the time at which nothing was alive any more.', async (_, verdict) => {
    const driver = await ready({ policy: { maxAttempts: 1 } });
    await driver.lose(verdict);
    await driver.advance(70);
    await driver.settle('releaseSession');
    expect(driver.context.at).toBe(START + 70);
    expect(driver.emitted.map(({ type }) => type)).toContain('released');
  });

  it('has no failure when it is idle.', async () => {
    const driver = await ready();
    await driver.watcher('session.idle');
    await driver.advance(30);
    await driver.settle('drainCalls');
    await driver.settle('closeSession');
    expect(driver.context).toStrictEqual({
      ...READY,
      wanted: false,
      attempt: 0,
      at: START + 30,
    });
  });

  it('has the new policy as soon as it changes.', async () => {
    const driver = await ready();
    const policy = { ...PLAIN_POLICY, maxAttempts: 1 };
    await driver.fact({ type: 'policy.changed', policy });
    expect(driver.context).toStrictEqual({ ...READY, policy });
    await driver.lose('retry');
    expect(driver.path).toBe('failed.exhausted.releasing');
  });

  it('has the cause and a hint for a user who denied the trust.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    await driver.command('trust.denied');
    expect(driver.context.failure).toStrictEqual({
      code: 'trust-denied',
      message: expect.stringContaining('files') as unknown,
      phase: 'configure',
      at: START,
      hint: expect.any(String) as unknown,
    });
  });
});

describe('an effect that ends in another state', () => {
  it('counts: lists that changed in the meantime are read.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp('enrichCatalog');
    await driver.extrasChanged('prompts');
    await driver.settle('enrichCatalog');
    expect(driver.path).toBe('ready.resting+current+debouncing');
    expect(driver.context.extras).toMatchObject({ due: ['prompts'] });
  });

  it('counts: a session that is released late.', async () => {
    const driver = await ready();
    await driver.lose('retry');
    await driver.fail('releaseSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    expect(driver.emitted.map(({ type }) => type)).not.toContain('released');
    await driver.advance(9);
    await driver.settle('releaseSession');
    expect(driver.context).toMatchObject({ at: START + 9, delayMs: 0 });
    expect(driver.emitted.slice(-2)).toMatchObject([
      { type: 'released' },
      { type: 'retrying', at: START + 9 },
    ]);
  });
});

describe('the context of a connection whose entry has changed', () => {
  const policy = { ...PLAIN_POLICY, maxAttempts: 9 };

  it('belongs to the new session, and keeps nothing read from the old one.', async () => {
    const driver = await ready({ transport: 'http' });
    await driver.command({ type: 'connection.reload', transport: 'http', policy, wanted: false });
    const steps = ['resolveConfig', 'openTransport', 'handshake', 'readTools', 'adoptTools'] as const;
    for (const step of steps) {
      await driver.advance(8);
      await driver.settle(step);
    }
    expect(driver.context).toStrictEqual({
      ...READY,
      transport: 'http',
      policy,
      generation: 2,
      issued: 2,
      retiring: 1,
      at: START + 40,
    });
    await driver.lose('retry');
    await driver.settle('releaseSession');
    expect(driver.context.retiring).toBeNull();
  });

  it('takes over changes, and keeps the rest of the next entry.', () => {
    const next = { transport: 'sse' as const, policy: PLAIN_POLICY };
    expect(applyReload({ transport: 'http', policy })).toStrictEqual({
      transport: 'http',
      policy,
      next: null,
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

  it('makes way for a sign-in only if one is possible.', () => {
    const failure: Failure = { code: 'auth-required', message: 'No.', phase: 'launch', at: 0 };
    expect(mustTakeTurns(failure)).toBe(true);
    expect(mustTakeTurns({ ...failure, canSignIn: false })).toBe(false);
  });
});

describe('the calculations of a context', () => {
  it('delay a first change, and a later one as long as the limit allows.', () => {
    expect(canWaitLonger(NEW, null, 1_000_000)).toBe(true);
    expect(canWaitLonger(NEW, 0, 1_700)).toBe(true);
    expect(canWaitLonger(NEW, 0, 1_701)).toBe(false);
  });

  it('keep the time of each step, and no former wait once it is ready.', async () => {
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
    expect(driver.path).toBe('failed.exhausted.retryingSlowly');
    return driver;
  }

  it('is tried by the slow timer as if no one had requested it.', async () => {
    const driver = await exhausted();
    const { delayMs, at } = driver.context;
    expect(driver.emitted.at(-1)).toEqual({ type: 'retryingSlowly', delayMs, at });
    await driver.advance(delayMs);
    expect(driver.path).toBe('configuring.resolving');
    expect(driver.context).toMatchObject({ attempt: 1, unasked: true, delayMs: 0 });
  });

  it('is tried at a time of its own when the network is back, as if no one had requested it.', async () => {
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
    });
  });

  it('is tried for a call as if a user had requested it.', async () => {
    const driver = await exhausted();
    await driver.fact({ type: 'call.waiting', at: driver.clock.now() + 30_000 });
    expect(driver.context).toMatchObject({ attempt: 1, unasked: false, delayMs: 0 });
  });
});

describe('the time at which a remote server is tried when the network is back', () => {
  it('is drawn from two seconds, both ends included.', () => {
    const delays = Array.from({ length: 40_000 }, (_, seed) => planNetworkRetry({ ...NEW, seed }, 7).delayMs);
    expect([Math.min(...delays.map(Number)), Math.max(...delays.map(Number))]).toEqual([0, 2_000]);
  });

  it('is subject to the retry budget.', () => {
    expect(planNetworkRetry(NEW, 7)).toMatchObject({ at: 7, unasked: true });
  });
});
