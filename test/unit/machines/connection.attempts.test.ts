/** Attempts: how they are counted, when the next one is due, when the connection gives up, and what a user can do then. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver, type DriverOptions } from '../../support/connection-driver.js';

async function ready(options?: DriverOptions): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver(options);
  await driver.bringUp();
  return driver;
}

/** Loses the session and completes its release. */
async function loseAndRelease(driver: ConnectionDriver): Promise<void> {
  await driver.lose('retry');
  await driver.settle('releaseSession');
}

async function failLaunch(driver: ConnectionDriver): Promise<void> {
  await driver.bringUp('openTransport');
  await driver.fail('openTransport', 'retry');
}

describe('an attempt', () => {
  it('is counted when it begins, and the count is emitted with the limit before the next one.', async () => {
    const driver = new ConnectionDriver();
    expect(driver.context.attempt).toBe(0);
    await failLaunch(driver);
    expect(driver.context.attempt).toBe(1);
    await driver.settle('releaseSession');
    expect(driver.emitted.at(-1)).toMatchObject({
      type: 'retrying',
      attempt: 2,
      maxAttempts: 5,
      delayMs: 1_000,
      failure: { code: 'connection-lost', phase: 'launch' },
    });
    await driver.advance(1_000);
    await driver.bringUp('openTransport');
    expect(driver.context.attempt).toBe(2);
  });

  it('resolves its configuration again, with the generation of its own session.', async () => {
    const driver = new ConnectionDriver();
    await failLaunch(driver);
    await driver.settle('releaseSession');
    await driver.advance(1_000);
    await driver.bringUp('handshake');
    const generations = (slot: string): unknown[] =>
      driver.started.flatMap(({ slot: each, input }) =>
        each === slot && 'generation' in input ? [input.generation] : [],
      );
    expect(generations('resolveConfig')).toEqual([1, 2]);
    expect(generations('openTransport')).toEqual([1, 2]);
  });

  it('has a time that a status can show.', async () => {
    const driver = new ConnectionDriver();
    await failLaunch(driver);
    await driver.advance(40);
    await driver.settle('releaseSession');
    expect(driver.emitted.at(-1)).toMatchObject({
      type: 'retrying',
      at: driver.clock.now(),
      delayMs: 1_000,
    });
  });

  it('is the last one of its round when the limit is reached, and the cause is kept.', async () => {
    const driver = new ConnectionDriver({ policy: { maxAttempts: 3 } });
    for (const attempt of [1, 2]) {
      await failLaunch(driver);
      await driver.settle('releaseSession');
      await driver.advance(1_000);
      expect(driver.context.attempt).toBe(attempt);
    }
    await failLaunch(driver);
    expect(driver.path).toBe('failed.exhausted.releasing');
    expect(driver.context).toMatchObject({
      attempt: 3,
      failure: { code: 'connection-lost', phase: 'launch' },
    });
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'failed', failure: { code: 'connection-lost' } });
  });

  it('is forgotten once the connection has been stable.', async () => {
    const driver = await ready();
    expect(driver.context.attempt).toBe(1);
    await driver.watcher('session.stable');
    expect(driver.context.attempt).toBe(0);
  });

  it('waits exactly until the backoff ends.', async () => {
    const driver = new ConnectionDriver();
    await failLaunch(driver);
    await driver.settle('releaseSession');
    await driver.advance(999);
    expect(driver.path).toBe('reconnecting.backingOff');
    await driver.advance(1);
    expect(driver.path).toBe('configuring.resolving');
  });

  it('that failed without a record is given up as an internal error, with its message.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp('handshake');
    await driver.fail('handshake', new Error('boom'));
    expect(driver.path).toBe('failed.permanent.releasing');
    expect(driver.context.failure).toMatchObject({
      code: 'internal',
      message: expect.stringContaining('boom'),
    });
  });
});

describe('a lost session', () => {
  it('is followed by an immediate attempt, and by a backoff if it is lost again soon.', async () => {
    const driver = await ready();
    await loseAndRelease(driver);
    expect(driver.context.delayMs).toBe(0);
    await driver.advance(0);
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
    await loseAndRelease(driver);
    expect(driver.context.delayMs).toBe(1_000);
  });

  it('is emitted before the next attempt, with the state.', async () => {
    const driver = await ready();
    driver.emitted.splice(0);
    await loseAndRelease(driver);
    expect(driver.emitted.map(({ type }) => type)).toEqual(['lost', 'released', 'retrying']);
    expect(driver.emitted[0]).toMatchObject({ failure: { phase: 'session' } });
    expect(driver.history.slice(-2)).toEqual(['reconnecting.releasing', 'reconnecting.backingOff']);
  });

  it('is emitted before the failure.', async () => {
    const driver = await ready();
    driver.emitted.splice(0);
    await driver.lose('permanent');
    expect(driver.emitted.map(({ type }) => type)).toEqual(['lost', 'failed']);
  });

  it('ends the round as a crash loop the fifth time within 30 s.', async () => {
    const driver = await ready();
    await driver.watcher('session.stable');
    for (const loss of [1, 2, 3, 4]) {
      await loseAndRelease(driver);
      await driver.advance(1_000);
      await driver.bringUp();
      await driver.watcher('session.stable');
      expect(driver.context.losses).toHaveLength(loss);
    }
    await driver.lose('retry');
    expect(driver.path).toBe('failed.permanent.releasing');
    expect(driver.context.failure).toMatchObject({ code: 'crash-loop' });
  });

  it('is renewed at once however often it only expired.', async () => {
    const driver = await ready();
    for (const delays of [0, 0, 0]) {
      await driver.lose('renew');
      await driver.settle('releaseSession');
      expect(driver.context.delayMs).toBe(delays);
      await driver.advance(0);
      await driver.bringUp();
    }
  });

  it('is detected by the second consecutive ping that is missed.', async () => {
    const driver = await ready();
    await driver.watcher('session.quiet');
    await driver.fail('probe', 'retry');
    await driver.settle('probe');
    expect(driver.path).toBe('ready.resting+current');
    await driver.watcher('session.quiet');
    await driver.fail('probe', 'retry');
    await driver.fail('probe', 'retry');
    expect(driver.path).toBe('reconnecting.releasing');
    expect(driver.context.losses).toHaveLength(1);
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'lost' });
  });

  it('is given up once the server was unreachable for as many consecutive requests as the policy allows.', async () => {
    const driver = await ready({ transport: 'http', policy: { maxUnreachable: 3 } });
    for (const count of [1, 2]) {
      expect(await driver.unreachable(count)).toBe('ignored');
      expect(driver.path).toBe('ready.resting+current');
    }
    await driver.unreachable(3);
    expect(driver.path).toBe('reconnecting.releasing');
    expect(driver.context.losses).toHaveLength(1);
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'lost', failure: { code: 'connection-lost' } });
  });
});

describe('a new session', () => {
  it('never opens before the old one has been released.', async () => {
    const driver = await ready();
    await driver.lose('retry');
    await driver.command('connection.retry');
    await driver.advance(600_000);
    expect(driver.running()).toEqual(['releaseSession']);
    expect(driver.started.filter(({ slot }) => slot === 'openTransport')).toHaveLength(1);
  });

  it('does not open if the old one cannot be released; a retry releases it again.', async () => {
    const driver = await ready();
    await driver.lose('retry');
    await driver.fail('releaseSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    expect(driver.context.failure).toMatchObject({ code: 'not-released' });
    await driver.advance(40);
    const failure = driver.failure('permanent', 'release', { code: 'not-released' });
    await driver.fail('releaseSession', failure);
    expect(driver.path).toBe('failed.unreleased.waiting');
    expect(driver.context.failure).toEqual(failure);
    await driver.command('connection.retry');
    expect(driver.path).toBe('reconnecting.releasing');
    expect(driver.context).toMatchObject({ attempt: 0, losses: [] });
    expect(driver.running()).toEqual(['releaseSession']);
    await driver.settle('releaseSession');
    await driver.advance(0);
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('gets the next generation, and no generation is used twice.', async () => {
    const driver = new ConnectionDriver({ generation: 41 });
    await driver.bringUp();
    await loseAndRelease(driver);
    await driver.advance(0);
    await driver.bringUp();
    const opened = driver.started.filter(({ slot }) => slot === 'openTransport');
    expect(opened.map(({ input }) => 'generation' in input && input.generation)).toEqual([42, 43]);
  });
});

describe('a given up connection', () => {
  it('begins a new round when a user retries it.', async () => {
    const driver = new ConnectionDriver({ policy: { maxAttempts: 1 } });
    await failLaunch(driver);
    await driver.settle('releaseSession');
    expect(driver.path).toBe('failed.exhausted.resting');
    await driver.command('connection.retry');
    expect(driver.context).toMatchObject({ attempt: 0, losses: [], delayMs: 0 });
    await driver.bringUp();
    expect(driver.context).toMatchObject({ attempt: 1, failure: null });
  });

  it('can be started again before its session is released, after the release.', async () => {
    const driver = new ConnectionDriver({ policy: { maxAttempts: 1 } });
    await failLaunch(driver);
    await driver.command('connection.start');
    expect(driver.path).toBe('reconnecting.releasing');
    expect(driver.running()).toEqual(['releaseSession']);
  });

  it('can be stopped while the release of its session hangs.', async () => {
    const driver = new ConnectionDriver({ policy: { maxAttempts: 1 } });
    await failLaunch(driver);
    await driver.stop();
    expect(driver.path).toBe('stopped');
    expect(driver.running()).toEqual([]);
  });

  it('waits without a timer.', async () => {
    const driver = new ConnectionDriver({ policy: { maxAttempts: 1 } });
    await failLaunch(driver);
    await driver.settle('releaseSession');
    expect(driver.clock.pending).toEqual([]);
  });
});

describe('a remote server while the network is down', () => {
  async function offline(seed: number): Promise<ConnectionDriver> {
    const driver = new ConnectionDriver({ transport: 'http', seed });
    await driver.bringUp();
    await driver.fact({ type: 'network.offline' });
    await loseAndRelease(driver);
    return driver;
  }

  it('is not tried, however long that lasts.', async () => {
    const driver = await offline(1);
    await driver.advance(600_000);
    expect(driver.path).toBe('reconnecting.offline');
    expect(driver.clock.pending).toEqual([]);
  });

  it('has nothing running once its session is released.', async () => {
    const driver = new ConnectionDriver({ transport: 'http', online: false });
    await driver.bringUp();
    await driver.lose('retry');
    await driver.advance(40);
    await driver.settle('releaseSession');
    expect(driver.context.at).toBe(driver.clock.now());
    expect(driver.emitted.at(-1)).toEqual({ type: 'released' });
  });

  it('is tried once when the network is back, at a time that depends on its seed.', async () => {
    const delays: number[] = [];
    for (const seed of [1, 2, 3, 1]) {
      const driver = await offline(seed);
      await driver.fact({ type: 'network.online', at: driver.clock.now() });
      delays.push(driver.context.delayMs);
      expect(driver.emitted.at(-1)).toMatchObject({
        type: 'retrying',
        at: driver.clock.now(),
        delayMs: driver.context.delayMs,
      });
      await driver.advance(driver.context.delayMs);
      expect(driver.path).toBe('configuring.resolving');
    }
    expect(new Set(delays).size).toBe(3);
    expect(delays[3]).toBe(delays[0]);
    expect(Math.max(...delays)).toBeLessThanOrEqual(2_000);
  });

  it('is tried normally when the network is back.', async () => {
    const driver = await offline(1);
    await driver.fact({ type: 'network.online', at: driver.clock.now() });
    await driver.advance(2_000);
    await failLaunch(driver);
    await driver.settle('releaseSession');
    expect(driver.path).toBe('reconnecting.backingOff');
  });

  it('is tried at once when a user requests it.', async () => {
    const driver = await offline(1);
    await driver.command('connection.retry');
    expect(driver.path).toBe('configuring.resolving');
  });

  it('is held even if it was waiting for its next attempt.', async () => {
    const driver = new ConnectionDriver({ transport: 'sse' });
    await failLaunch(driver);
    await driver.settle('releaseSession');
    await driver.fact({ type: 'network.offline' });
    await driver.advance(600_000);
    expect(driver.path).toBe('reconnecting.offline');
    expect(driver.context.online).toBe(false);
  });

  it.each(['stdio', 'in-process'] as const)(
    'does not hold a server that is reached by %s.',
    async (transport) => {
      const driver = new ConnectionDriver({ transport });
      await failLaunch(driver);
      await driver.settle('releaseSession');
      await driver.fact({ type: 'network.offline' });
      await driver.advance(1_000);
      expect(driver.path).toBe('configuring.resolving');
    },
  );
});
