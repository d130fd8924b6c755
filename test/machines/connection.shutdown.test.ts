/** How a connection ends: what each stop and each reason does, and what is left. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver, PLAIN_POLICY, type DriverOptions } from '../support/connection-driver.js';

async function ready(options?: DriverOptions): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver(options);
  await driver.bringUp();
  return driver;
}

/** Lets everything that a shutdown does succeed. */
async function shutDown(driver: ConnectionDriver): Promise<void> {
  await driver.settle('drainCalls');
  await driver.settle('closeSession');
}

describe('a stop', () => {
  it('drains, closes and ends, with a summary of the life.', async () => {
    const driver = await ready();
    const readyAt = driver.clock.now();
    await driver.advance(5_000);
    await driver.command({ type: 'connection.stop', reason: 'remove' });
    await shutDown(driver);
    expect(driver.history.slice(-3)).toEqual(['shuttingDown.draining', 'shuttingDown.closing', 'stopped']);
    expect(driver.output).toEqual({
      name: 'files',
      reason: 'remove',
      generation: 1,
      attempts: 1,
      readyAt,
      at: readyAt + 5_000,
    });
  });

  it('leaves no effect and no timer behind, wherever it comes.', async () => {
    const driver = await ready();
    await driver.listChanged();
    await driver.watcher('session.quiet');
    await driver.stop();
    expect(driver.running()).toEqual([]);
    expect(driver.clock.pending).toEqual([]);
  });

  it('moves on one step each time it is asked for again, and the fourth has nothing left to do.', async () => {
    const driver = await ready();
    const paths: string[] = [];
    const answers: string[] = [];
    for (const _ of [1, 2, 3, 4]) {
      answers.push(await driver.command('connection.stop'));
      paths.push(driver.path);
    }
    expect(paths).toEqual([
      'shuttingDown.draining',
      'shuttingDown.closing',
      'shuttingDown.killing',
      'shuttingDown.killing',
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

  it('kills what could not be closed.', async () => {
    const driver = await ready();
    await driver.command('connection.stop');
    await driver.settle('drainCalls');
    await driver.fail('closeSession', 'permanent');
    expect(driver.running()).toEqual(['killSession']);
    await driver.settle('killSession');
    expect(driver.path).toBe('stopped');
  });

  it('ends although nothing could be proven, and says so.', async () => {
    const driver = await ready();
    for (const _ of [1, 2, 3]) await driver.command('connection.stop');
    await driver.fail('killSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    expect(driver.path).toBe('stopped');
    expect(driver.context).toMatchObject({ released: false, failure: { code: 'not-released' } });
  });

  it('turns a restart under way into an end without hurrying it.', async () => {
    const driver = await ready();
    await driver.command('connection.restart');
    await driver.command('connection.stop');
    expect(driver.path).toBe('shuttingDown.draining');
    await shutDown(driver);
    expect(driver.path).toBe('stopped');
  });

  it('turns a restart into an end even while the old session is killed.', async () => {
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
    expect(driver.context).toMatchObject({ attempt: 0, losses: [], intent: null, readyAt: null, pid: null });
    await driver.bringUp();
    expect(driver.context).toMatchObject({ generation: 2, attempt: 1 });
  });

  it('wakes a connection that was at rest.', async () => {
    const driver = new ConnectionDriver({ wanted: false });
    await driver.settle('resolveConfig', { kind: 'dormant' });
    await driver.command('connection.restart');
    await shutDown(driver);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
  });

  it('fails when the old session survives being killed, and can be asked for again.', async () => {
    const driver = await ready();
    await driver.command('connection.restart');
    await driver.settle('drainCalls');
    await driver.fail('closeSession', 'permanent');
    await driver.fail('killSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    expect(driver.path).toBe('failed.releasing');
    expect(driver.context).toMatchObject({ intent: null, failure: { code: 'not-released' } });
    await driver.fail('releaseSession', 'permanent');
    expect(await driver.command('connection.restart')).toBe('accepted');
    await shutDown(driver);
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('has every attempt before it, though the old session was proven gone late.', async () => {
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

  it('opens nothing new after a failed kill until the old session is proven gone.', async () => {
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
  const reload = { type: 'connection.reload', transport: 'http', policy: PLAIN_POLICY } as const;

  it('comes back with the new entry.', async () => {
    const driver = await ready();
    await driver.command(reload);
    await shutDown(driver);
    await driver.settle('resolveConfig');
    expect(driver.path).toBe('launching.opening');
    expect(driver.context.transport).toBe('http');
  });

  it('lets a connection rest that was at rest.', async () => {
    const driver = new ConnectionDriver({ wanted: false });
    await driver.settle('resolveConfig', { kind: 'dormant' });
    await driver.command(reload);
    await shutDown(driver);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: false });
  });

  it('asks again for the trust that the new entry needs.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    await driver.command(reload);
    await shutDown(driver);
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(driver.emitted.map(({ type }) => type)).toEqual(['trustRequired', 'trustRequired']);
  });

  it('that comes during another one wins.', async () => {
    const driver = await ready();
    await driver.command(reload);
    await driver.command({ ...reload, transport: 'in-process' });
    await shutDown(driver);
    expect(driver.context.transport).toBe('in-process');
  });

  it('gives the start slot back that only the old transport needed.', async () => {
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

  it('is closed and rests, and nothing of it runs.', async () => {
    const driver = await idle();
    await shutDown(driver);
    expect(driver.path).toBe('configuring.dormant');
    expect(driver.running()).toEqual([]);
    expect(driver.context).toMatchObject({ wanted: false, attempt: 0, readyAt: null });
  });

  it('starts when someone asks for it.', async () => {
    const driver = await idle();
    await shutDown(driver);
    await driver.command('connection.start');
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('looks at its new entry before it rests when it is reloaded while it closes.', async () => {
    const driver = await idle();
    await driver.command({ type: 'connection.reload', transport: 'stdio', policy: PLAIN_POLICY });
    await shutDown(driver);
    expect(driver.path).toBe('configuring.resolving');
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: false });
  });

  it.each(['connection.start', 'connection.restart'] as const)(
    'comes back instead of resting when %s arrives while it closes.',
    async (command) => {
      const driver = await idle();
      expect(await driver.command(command)).toBe('accepted');
      await shutDown(driver);
      expect(driver.path).toBe('configuring.resolving');
      expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
    },
  );
});
