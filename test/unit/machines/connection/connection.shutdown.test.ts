/** How a connection ends: the effect of each stop and each reason, and what is left. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver, PLAIN_POLICY, type DriverOptions } from '../../../support/connection-driver.js';

async function ready(options?: DriverOptions): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver(options);
  await driver.bringUp();
  return driver;
}

async function failed(): Promise<ConnectionDriver> {
  const driver = await ready();
  await driver.lose('permanent');
  await driver.settle('releaseSession');
  return driver;
}

/** Lets every effect of a shutdown succeed. */
async function shutDown(driver: ConnectionDriver): Promise<void> {
  await driver.settle('drainCalls');
  await driver.settle('closeSession');
}

describe('a stop', () => {
  it('drains, closes and ends, with a summary of the life.', async () => {
    const driver = await ready();
    await driver.advance(5_000);
    await driver.command({ type: 'connection.stop', reason: 'remove' });
    await shutDown(driver);
    expect(driver.history.slice(-3)).toEqual([
      'shuttingDown.draining+ending',
      'shuttingDown.closing+ending',
      'stopped',
    ]);
    expect(driver.output).toEqual({
      name: 'files',
      reason: 'remove',
      generation: 1,
      attempts: 1,
      at: driver.clock.now(),
    });
  });

  it('leaves no effect and no timer, in whatever state it comes.', async () => {
    const driver = await ready();
    await driver.listChanged();
    await driver.watcher('session.quiet');
    await driver.stop();
    expect(driver.running()).toEqual([]);
    expect(driver.clock.pending).toEqual([]);
  });

  it('advances by one step each time it is requested again, up to the fourth, which has no effect.', async () => {
    const driver = await ready();
    const paths: string[] = [];
    const answers: string[] = [];
    for (const _ of [1, 2, 3, 4]) {
      answers.push(await driver.command('connection.stop'));
      paths.push(driver.path);
    }
    expect(paths).toEqual([
      'shuttingDown.draining+ending',
      'shuttingDown.closing+ending',
      'shuttingDown.killing+ending',
      'shuttingDown.killing+ending',
    ]);
    expect(answers).toEqual(['accepted', 'accepted', 'accepted', 'ignored']);
  });

  it('keeps its first reason when it is hurried.', async () => {
    const driver = await ready();
    await driver.command({ type: 'connection.stop', reason: 'remove' });
    await driver.command({ type: 'connection.stop', reason: 'close' });
    await driver.settle('closeSession');
    expect(driver.output).toMatchObject({ reason: 'remove' });
  });

  it('kills a session that could not be closed.', async () => {
    const driver = await ready();
    await driver.command('connection.stop');
    await driver.settle('drainCalls');
    await driver.fail('closeSession', 'permanent');
    expect(driver.running()).toEqual(['killSession']);
    await driver.settle('killSession');
    expect(driver.path).toBe('stopped');
  });

  it('ends although the release could not be confirmed, and reports it.', async () => {
    const driver = await ready();
    for (const _ of [1, 2, 3]) await driver.command('connection.stop');
    await driver.fail('killSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    expect(driver.path).toBe('stopped');
    expect(driver.context).toMatchObject({ failure: { code: 'not-released' } });
    expect(driver.emitted.map(({ type }) => type)).not.toContain('released');
  });

  it('clears the last failure.', async () => {
    const driver = await failed();
    await driver.command('connection.stop');
    await shutDown(driver);
    expect(driver.path).toBe('stopped');
    expect(driver.context.failure).toBeNull();
  });

  it('turns a restart in progress into a stop without speeding it up.', async () => {
    const driver = await ready();
    await driver.command('connection.restart');
    await driver.command('connection.stop');
    expect(driver.path).toBe('shuttingDown.draining+ending');
    await shutDown(driver);
    expect(driver.path).toBe('stopped');
  });

  it('turns a restart into a stop even while the old session is killed.', async () => {
    const driver = await ready();
    await driver.command('connection.restart');
    await driver.settle('drainCalls');
    await driver.fail('closeSession', 'permanent');
    await driver.command({ type: 'connection.stop', reason: 'close' });
    await driver.settle('killSession');
    expect(driver.path).toBe('stopped');
    expect(driver.output).toMatchObject({ reason: 'close' });
  });

  it('has four seconds at most for draining and closing by default, whatever the transport.', async () => {
    const driver = await ready();
    await driver.command('connection.stop');
    const drain = driver.inputOf('drainCalls');
    await driver.settle('drainCalls');
    const close = driver.inputOf('closeSession');
    expect(drain).toMatchObject({ limitMs: 1_000 });
    expect(close).toMatchObject({ limitMs: 3_000 });
  });
});

describe('a restart', () => {
  it('comes back with a new session and a new round.', async () => {
    const driver = await ready();
    await driver.command('connection.restart');
    await shutDown(driver);
    expect(driver.path).toBe('configuring.resolving');
    expect(driver.context).toMatchObject({ attempt: 0, losses: [], signIns: [], failure: null });
    expect(driver.emitted.at(-1)).toEqual({ type: 'released' });
    await driver.bringUp();
    expect(driver.context).toMatchObject({ generation: 2, attempt: 1 });
  });

  it('clears the last failure.', async () => {
    const driver = await failed();
    await driver.command('connection.restart');
    await shutDown(driver);
    expect(driver.context.failure).toBeNull();
  });

  it('wakes an idle connection.', async () => {
    const driver = new ConnectionDriver({ wanted: false });
    await driver.settle('resolveConfig', { kind: 'dormant' });
    await driver.command('connection.restart');
    await shutDown(driver);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
  });

  it('fails if the old session survives being killed, and can be requested again.', async () => {
    const driver = await ready();
    await driver.command('connection.restart');
    await driver.settle('drainCalls');
    await driver.fail('closeSession', 'permanent');
    await driver.fail('killSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    expect(driver.path).toBe('failed.unreleased.releasing');
    expect(driver.context).toMatchObject({ failure: { code: 'not-released' } });
    await driver.fail('releaseSession', 'permanent');
    expect(await driver.command('connection.restart')).toBe('accepted');
    await shutDown(driver);
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('starts with all its attempts, even if the old session was released late.', async () => {
    const driver = await ready({ policy: { maxAttempts: 1 } });
    await driver.command('connection.restart');
    await driver.settle('drainCalls');
    await driver.fail('closeSession', 'permanent');
    await driver.fail('killSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    await driver.settle('releaseSession');
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'retrying', attempt: 1, maxAttempts: 1 });
    await driver.advance(0);
    await driver.bringUp();
    expect(driver.context).toMatchObject({ attempt: 1 });
  });

  it('opens nothing new after a failed kill until the old session is released.', async () => {
    const driver = await ready();
    await driver.command('connection.restart');
    await driver.settle('drainCalls');
    await driver.fail('closeSession', 'permanent');
    await driver.fail('killSession', 'permanent');
    await driver.fail('releaseSession', 'permanent');
    await driver.command('connection.retry');
    expect(driver.running()).toEqual(['releaseSession']);
  });
});

describe('a reload', () => {
  const reload = {
    type: 'connection.reload',
    transport: 'http',
    policy: PLAIN_POLICY,
    wanted: false,
  } as const;

  it('comes back with the new entry.', async () => {
    const driver = await ready();
    await driver.command(reload);
    await shutDown(driver);
    await driver.settle('resolveConfig');
    expect(driver.path).toBe('launching.opening');
    expect(driver.context.transport).toBe('http');
  });

  it('leaves an idle connection idle.', async () => {
    const driver = new ConnectionDriver({ wanted: false });
    await driver.settle('resolveConfig', { kind: 'dormant' });
    await driver.command(reload);
    await shutDown(driver);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: false });
  });

  it('that needs the server wakes an idle connection.', async () => {
    const driver = new ConnectionDriver({ wanted: false });
    await driver.settle('resolveConfig', { kind: 'dormant' });
    await driver.command({ ...reload, wanted: true });
    await shutDown(driver);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
  });

  it.each(['connection.start', 'connection.restart'] as const)(
    'of an idle connection leads to a start if %s arrives in the meantime.',
    async (command) => {
      const driver = new ConnectionDriver({ wanted: false });
      await driver.settle('resolveConfig', { kind: 'dormant' });
      await driver.command(reload);
      expect(await driver.command(command)).toBe('accepted');
      await shutDown(driver);
      expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
    },
  );

  it('requests the trust again that the new entry needs.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    await driver.command(reload);
    await shutDown(driver);
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(driver.emitted.map(({ type }) => type)).toEqual(['trustRequired', 'released', 'trustRequired']);
  });

  it('that comes during another one replaces it.', async () => {
    const driver = await ready();
    await driver.command(reload);
    await driver.command({ ...reload, transport: 'in-process' });
    await shutDown(driver);
    expect(driver.context.transport).toBe('in-process');
  });

  it('returns the start slot that only the old transport needed.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig');
    await driver.command(reload);
    expect(driver.reports).toEqual(['child.wantsSlot', 'child.leftStart', 'child.settled']);
  });
});

describe('an idle connection', () => {
  async function idle(): Promise<ConnectionDriver> {
    const driver = await ready();
    await driver.watcher('session.idle');
    return driver;
  }

  it('is closed and becomes idle, with no effects.', async () => {
    const driver = await idle();
    await shutDown(driver);
    expect(driver.path).toBe('configuring.dormant');
    expect(driver.running()).toEqual([]);
    expect(driver.context).toMatchObject({ wanted: false, attempt: 0 });
  });

  it('starts when it is needed.', async () => {
    const driver = await idle();
    await shutDown(driver);
    await driver.command('connection.start');
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it.each(['while it closes', 'after it has closed'])('comes back for a waiting call, %s.', async (when) => {
    const driver = await idle();
    if (when === 'after it has closed') await shutDown(driver);
    expect(await driver.fact({ type: 'call.waiting', at: driver.clock.now() })).toBe('accepted');
    if (when === 'while it closes') await shutDown(driver);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('checks its new entry before it becomes idle if it is reloaded while it closes.', async () => {
    const driver = await idle();
    await driver.command('connection.reload');
    await shutDown(driver);
    expect(driver.path).toBe('configuring.resolving');
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: false });
  });

  it.each(['connection.start', 'connection.restart'] as const)(
    'comes back instead of becoming idle if %s arrives while it closes.',
    async (command) => {
      const driver = await idle();
      expect(await driver.command(command)).toBe('accepted');
      await shutDown(driver);
      expect(driver.path).toBe('configuring.resolving');
      expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
    },
  );
});
