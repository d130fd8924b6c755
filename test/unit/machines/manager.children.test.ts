/** The manager and its children: how they are announced, when the start is over, and how children and the manager end. */
import { describe, expect, it } from 'vitest';
import { childSpec, ManagerDriver } from '../../support/manager-driver.js';

async function running(...names: string[]): Promise<ManagerDriver> {
  const driver = new ManagerDriver({ startSlots: 9 });
  await driver.start(...names);
  for (const name of names) await driver.settle(name, 'resolveConfig');
  await driver.bringUp(...names);
  expect(driver.state).toBe('running');
  return driver;
}

const stop = { type: 'connection.stop', reason: 'stop' } as const;

describe('a child', () => {
  it('is announced with its source before its first state.', async () => {
    const driver = new ManagerDriver();
    await driver.start('a', 'b');
    expect(driver.story).toEqual([
      'added a',
      'added b',
      'a: configuring.resolving',
      'b: configuring.resolving',
      'started',
    ]);
    expect(driver.emitted[0]).toEqual({ type: 'added', name: 'a', source: 'a test' });
    expect(driver.emitted.at(-1)).toEqual({ type: 'started', connections: 2 });
  });

  it('that is added later is announced in the same way.', async () => {
    const driver = await running('a');
    driver.story.splice(0);
    await driver.add('b');
    expect(driver.story).toEqual(['added b', 'b: configuring.resolving']);
  });

  it('knows from its start whether the network is up.', async () => {
    const driver = new ManagerDriver();
    await driver.network(false);
    await driver.start('a');
    expect(driver.contextOf('a').online).toBe(false);
  });

  it('that has ended is reported with its summary, counted and removed.', async () => {
    const driver = await running('a', 'b');
    await driver.command('a', stop);
    await driver.bringDown('a');
    expect(driver.emitted.at(-1)).toMatchObject({
      type: 'ended',
      name: 'a',
      output: { reason: 'stop', attempts: 1 },
    });
    expect(driver.children).toEqual(['b']);
    expect(driver.context.alive).toBe(1);
    expect(driver.state).toBe('running');
  });

  it('can come back under its name with the next generation.', async () => {
    const driver = await running('a');
    await driver.command('a', stop);
    await driver.bringDown('a');
    await driver.add(childSpec('a', { generation: 1 }));
    await driver.settle('a', 'resolveConfig');
    await driver.bringUp('a');
    expect(driver.contextOf('a')).toMatchObject({ generation: 2 });
    expect(driver.pathOf('a')).toBe('ready.resting+current');
  });

  it('that crashes is replaced, and neither the manager nor a sibling is affected.', async () => {
    const driver = await running('a', 'b');
    await driver.crash('a');
    expect(driver.emitted.at(-1)).toMatchObject({
      type: 'crashed',
      name: 'a',
      isReplaced: true,
      failure: { code: 'internal' },
    });
    expect(driver.children.toSorted()).toEqual(['a', 'b']);
    expect(driver.context.alive).toBe(2);
    expect(driver.state).toBe('running');
    expect(driver.status).toBe('active');
    expect(driver.pathOf('b')).toBe('ready.resting+current');
  });
});

describe('the start', () => {
  it('is over when every first attempt is over, whatever its outcome.', async () => {
    const driver = new ManagerDriver({ startSlots: 9 });
    await driver.start('ready', 'failed', 'untrusted', 'lazy', 'dead');
    await driver.settle('ready', 'resolveConfig');
    await driver.bringUp('ready');
    await driver.fail('failed', 'resolveConfig', 'permanent');
    await driver.settle('untrusted', 'resolveConfig', { kind: 'untrusted' });
    await driver.settle('lazy', 'resolveConfig', { kind: 'dormant' });
    expect(driver.state).toBe('starting');
    await driver.crash('dead');
    expect(driver.state).toBe('running');
  });

  it('is not over early because a settled child ended.', async () => {
    const driver = new ManagerDriver({ startSlots: 9 });
    await driver.start('a', 'b');
    await driver.settle('a', 'resolveConfig', { kind: 'untrusted' });
    await driver.crash('a');
    expect(driver.state).toBe('starting');
  });

  it('waits for a child that is added in the meantime.', async () => {
    const driver = new ManagerDriver({ startSlots: 9 });
    await driver.start('a');
    await driver.add('b');
    await driver.settle('a', 'resolveConfig', { kind: 'untrusted' });
    expect(driver.state).toBe('starting');
    await driver.settle('b', 'resolveConfig', { kind: 'untrusted' });
    expect(driver.state).toBe('running');
  });

  it('waits for the slowest child up to the gate, which has no effect on the child.', async () => {
    const driver = new ManagerDriver({ startGateMs: 10_000 });
    await driver.start('a', 'silent');
    await driver.settle('a', 'resolveConfig', { kind: 'untrusted' });
    await driver.advance(9_999);
    expect(driver.state).toBe('starting');
    await driver.advance(1);
    expect(driver.state).toBe('running');
    await driver.settle('silent', 'resolveConfig');
    await driver.bringUp('silent');
    expect(driver.pathOf('silent')).toBe('ready.resting+current');
  });

  it('is over at once if all were fast.', async () => {
    const driver = new ManagerDriver({ startSlots: 9 });
    await driver.start('a', 'b');
    for (const name of ['a', 'b']) await driver.settle(name, 'resolveConfig', { kind: 'untrusted' });
    expect(driver.state).toBe('running');
    expect(driver.clock.pending).toEqual([]);
  });

  it('does not wait for a child that has ended, nor count it twice.', async () => {
    const driver = new ManagerDriver({ startSlots: 9 });
    await driver.start('dead', 'settled', 'b');
    await driver.settle('settled', 'resolveConfig', { kind: 'untrusted' });
    await driver.crash('settled');
    await driver.crash('dead');
    expect(driver.context).toMatchObject({ unsettled: 1 });
    await driver.settle('b', 'resolveConfig', { kind: 'untrusted' });
    expect(driver.state).toBe('running');
  });

  it('is over at a short gate.', async () => {
    const driver = new ManagerDriver({ startGateMs: 100 });
    await driver.start('a');
    await driver.advance(100);
    expect(driver.state).toBe('running');
    expect(driver.clock.pending).toEqual([]);
  });

  it('leaves no timer behind once it is over.', async () => {
    const driver = new ManagerDriver();
    await driver.start('a');
    await driver.settle('a', 'resolveConfig', { kind: 'untrusted' });
    expect(driver.clock.pending).toEqual([]);
  });
});

describe('the stop', () => {
  it('ends all children at the same time and is reported when the last one has ended.', async () => {
    const driver = await running('a', 'b', 'c');
    await driver.stop();
    expect(['a', 'b', 'c'].map((name) => driver.pathOf(name))).toEqual(
      Array(3).fill('shuttingDown.draining+ending'),
    );
    await driver.bringDown('b', 'a');
    expect(driver.state).toBe('closing');
    await driver.bringDown('c');
    expect(driver.state).toBe('closed');
    expect(driver.story.slice(-2)).toEqual(['ended c', 'stopped']);
    expect(driver.emitted.filter(({ type }) => type === 'ended')).toMatchObject(
      ['b', 'a', 'c'].map((name) => ({ name, output: { reason: 'close' } })),
    );
  });

  it('of a manager that was never started is over at once.', async () => {
    const driver = new ManagerDriver();
    await driver.stop();
    expect(driver.state).toBe('closed');
    expect(driver.story).toEqual(['stopped']);
  });

  it('of a manager without children is over at once.', async () => {
    const driver = new ManagerDriver();
    await driver.start();
    await driver.stop();
    expect(driver.story).toEqual(['started', 'stopped']);
  });

  it('during the start leaves nothing that waits for a slot, and no timer.', async () => {
    const driver = new ManagerDriver({ startSlots: 1 });
    const names = ['a', 'b', 'c', 'd'];
    await driver.start(...names);
    for (const name of names) await driver.settle(name, 'resolveConfig');
    await driver.stop();
    expect(driver.context).toMatchObject({ holders: [], waiting: [] });
    expect(driver.clock.pending).toEqual([]);
    await driver.bringDown(...names);
    expect(driver.state).toBe('closed');
    expect(driver.opened).toEqual(['a']);
  });

  it('while later children are still starting leaves no timer either.', async () => {
    const driver = await running('a');
    await driver.add('b');
    await driver.settle('b', 'resolveConfig');
    expect(driver.context.holders).toEqual(['b']);
    await driver.stop();
    expect(driver.context.holders).toEqual([]);
    expect(driver.clock.pending).toEqual([]);
  });

  it('speeds up every remaining child by one step if it is requested again.', async () => {
    const driver = await running('a', 'b', 'c');
    await driver.stop();
    await driver.bringDown('a');
    await driver.settle('b', 'drainCalls');
    await driver.stop();
    expect(driver.pathOf('b')).toBe('shuttingDown.killing+ending');
    expect(driver.pathOf('c')).toBe('shuttingDown.closing+ending');
    await driver.settle('b', 'killSession');
    await driver.settle('c', 'closeSession');
    expect(driver.state).toBe('closed');
    expect(driver.emitted.filter(({ type }) => type === 'ended')).toHaveLength(3);
  });

  it('counts children that ended or crashed before, and those that crash in the meantime.', async () => {
    const driver = await running('ended', 'dead', 'dying', 'last');
    await driver.command('ended', stop);
    await driver.bringDown('ended');
    await driver.crash('dead');
    await driver.stop();
    await driver.crash('dying');
    expect(driver.state).toBe('closing');
    await driver.bringDown('dead', 'last');
    expect(driver.state).toBe('closed');
    expect(driver.context.alive).toBe(0);
  });

  it('ends a child that is between two incarnations.', async () => {
    const driver = await running('a');
    await driver.command('a', { type: 'connection.restart' });
    await driver.settle('a', 'drainCalls');
    await driver.fail('a', 'closeSession', 'permanent', 'release');
    expect(driver.pathOf('a')).toBe('shuttingDown.killing+restarting');
    await driver.stop();
    await driver.settle('a', 'killSession');
    expect(driver.state).toBe('closed');
  });

  it('ends children that are idle, waiting for a user, failed or waiting to retry.', async () => {
    const driver = new ManagerDriver({ startSlots: 9 });
    await driver.start('lazy', 'untrusted', 'failed', 'retrying');
    await driver.settle('lazy', 'resolveConfig', { kind: 'dormant' });
    await driver.settle('untrusted', 'resolveConfig', { kind: 'untrusted' });
    await driver.fail('failed', 'resolveConfig', 'permanent');
    await driver.settle('retrying', 'resolveConfig');
    await driver.fail('retrying', 'openTransport', 'retry');
    await driver.settle('retrying', 'releaseSession');
    await driver.stop();
    await driver.bringDown('lazy', 'untrusted', 'failed', 'retrying');
    expect(driver.state).toBe('closed');
    expect(driver.clock.pending).toEqual([]);
  });

  it('ignores late events.', async () => {
    const driver = await running('a');
    await driver.stop();
    await driver.bringDown('a');
    const before = driver.snapshot;
    expect(await driver.send({ type: 'manager.stop' })).toBe('ignored');
    expect(await driver.send({ type: 'manager.add', spec: childSpec('b') })).toBe('unhandled');
    expect(driver.snapshot).toBe(before);
    await driver.network(false);
    expect(driver.state).toBe('closed');
  });
});

describe('the network', () => {
  const remote = (name: string, seed: number) => childSpec(name, { transport: 'http', seed });

  async function lostOffline(): Promise<ManagerDriver> {
    const driver = new ManagerDriver({ startSlots: 9 });
    await driver.start(remote('web', 1), remote('api', 2), remote('twin', 1), childSpec('local'));
    const names = ['web', 'api', 'twin', 'local'];
    for (const name of names) await driver.settle(name, 'resolveConfig');
    await driver.network(false);
    for (const name of names) {
      await driver.fail(name, 'openTransport', 'retry');
      await driver.settle(name, 'releaseSession');
    }
    return driver;
  }

  it('that is down holds only the remote servers.', async () => {
    const driver = await lostOffline();
    await driver.advance(60_000);
    expect(['web', 'api', 'twin'].map((name) => driver.pathOf(name))).toEqual(
      Array(3).fill('reconnecting.offline'),
    );
    expect(driver.pathOf('local')).toBe('configuring.resolving');
  });

  it('that is back gives each remote server one attempt, spread by its seed.', async () => {
    const driver = await lostOffline();
    await driver.network(true);
    const [web, api, twin] = ['web', 'api', 'twin'].map((name) => driver.contextOf(name).delayMs);
    expect(web).not.toBe(api);
    expect(twin).toBe(web);
    await driver.advance(2_000);
    expect(['web', 'api', 'twin'].map((name) => driver.pathOf(name))).toEqual(
      Array(3).fill('configuring.resolving'),
    );
  });

  it('that changed is reported only to live children.', async () => {
    const driver = await running('a', 'b');
    await driver.stop();
    await driver.bringDown('a');
    await driver.network(false);
    expect(driver.contextOf('a').online).toBe(true);
    expect(driver.contextOf('b').online).toBe(false);
  });

  it('that did not change is not reported.', async () => {
    const driver = await running('a');
    const before = driver.snapshot;
    expect(await driver.send({ type: 'network.changed', online: true, at: 0 })).toBe('ignored');
    expect(driver.snapshot).toBe(before);
  });
});
