/** A changed entry of a server that is reached over a network: the new session is brought up beside the old one. */
import { describe, expect, it } from 'vitest';
import type { TransportKind } from '../../machines/connection.events.js';
import { ConnectionDriver, PLAIN_POLICY, type DriverOptions } from '../support/connection-driver.js';

const CHANGED = { ...PLAIN_POLICY, maxAttempts: 9, handshakeTimeoutMs: 77 };

async function readyDriver(options: DriverOptions = {}): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver({ transport: 'http', ...options });
  await driver.bringUp();
  return driver;
}

async function reload(driver: ConnectionDriver, transport: TransportKind = 'http'): Promise<void> {
  await driver.command({ type: 'connection.reload', transport, policy: CHANGED });
}

/** Ready by the new entry, with the old session on its way out. */
async function replaced(): Promise<ConnectionDriver> {
  const driver = await readyDriver();
  await reload(driver);
  await driver.settle('prepareSession');
  await driver.settle('enrichCatalog');
  return driver;
}

const types = (driver: ConnectionDriver): string[] => driver.emitted.map(({ type }) => type);

describe('a reload of a connection that is reached over a network', () => {
  it('leaves the session in use alone until its successor is ready.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    expect(driver.path).toBe('ready.resting+current+preparing');
    expect(driver.context).toMatchObject({
      generation: 1,
      issued: 2,
      next: { transport: 'http', policy: CHANGED },
      policy: { maxAttempts: PLAIN_POLICY.maxAttempts },
    });
    expect(driver.inputOf('prepareSession')).toEqual({
      name: 'files',
      generation: 2,
      besides: 1,
      releaseMs: PLAIN_POLICY.releaseTimeoutMs,
      launchMs: CHANGED.launchTimeoutMs,
      handshakeMs: 77,
      listMs: CHANGED.listTimeoutMs,
    });
    expect(driver.running()).toContain('watchSession');
  });

  it('uses the new session when it is ready, tells that it is, and tells of no loss.', async () => {
    const driver = await readyDriver();
    await reload(driver, 'sse');
    await driver.settle('prepareSession', { transport: 'sse' });
    expect(driver.context).toMatchObject({
      generation: 2,
      issued: 2,
      retiring: 1,
      next: null,
      outdated: null,
      transport: 'sse',
      configHash: 'config-2',
      catalogHash: 'catalog-2',
      policy: { maxAttempts: 9 },
      server: { info: { name: 'successor' } },
      timings: { launchingMs: 2 },
    });
    expect(types(driver)).toEqual(['ready', 'ready']);
    expect(driver.emitted.at(-1)).toEqual({ type: 'ready', toolCount: 5 });
    expect(driver.inputOf('watchSession')).toMatchObject({ generation: 2 });
    expect(driver.inputOf('enrichCatalog')).toMatchObject({ generation: 2 });
  });

  it('lets the calls of the old session finish, and then ends that session alone.', async () => {
    const driver = await replaced();
    expect(driver.path).toBe('ready.resting+current+retiring');
    expect(driver.inputOf('retireSession')).toMatchObject({ generation: 1, besides: 2, drainMs: 60_000 });
    await driver.settle('retireSession');
    expect(driver.path).toBe('ready.resting+current');
    expect(driver.context.retiring).toBeNull();
    expect(driver.started.map(({ slot }) => slot)).not.toContain('closeSession');
  });

  it('does not go to rest while the calls of the old session are not finished.', async () => {
    const driver = await replaced();
    await expect(driver.watcher('session.idle')).resolves.toBe('ignored');
    await driver.settle('retireSession');
    await driver.watcher('session.idle');
    expect(driver.path).toBe('shuttingDown.draining');
  });

  it('is ready without an end where the old session does not end: whoever ends the connection ends it, too.', async () => {
    const driver = await replaced();
    await driver.fail('retireSession', 'permanent');
    expect(driver.path).toBe('ready.resting+current');
  });

  it('keeps the old session where the new one cannot be had, and says why.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await driver.fail('prepareSession', 'permanent');
    expect(driver.path).toBe('ready.resting+current');
    expect(driver.context).toMatchObject({
      generation: 1,
      failure: null,
      outdated: { code: 'command-not-found' },
      policy: { maxAttempts: PLAIN_POLICY.maxAttempts },
    });
    expect(types(driver)).toEqual(['ready', 'outdated']);
  });

  it.each(['retry', 'permanent', 'authorize'] as const)(
    'goes by the new entry, from the start, where the outdated session is lost (%s).',
    async (how) => {
      const driver = await readyDriver({ policy: { maxAttempts: 1 } });
      await reload(driver);
      await driver.fail('prepareSession', 'retry');
      await driver.lose(how);
      expect(driver.path).toBe('shuttingDown.draining');
      expect(driver.context).toMatchObject({ policy: { maxAttempts: 9 }, next: null, outdated: null });
      expect(types(driver)).toEqual(['ready', 'outdated', 'lost']);
      await driver.settle('drainCalls');
      await driver.settle('closeSession');
      await driver.bringUp();
      expect(driver.path).toBe('ready.resting+current');
      expect(driver.context).toMatchObject({ generation: 3, attempt: 1 });
    },
  );

  it('gives a number once: that of a session which never came into use is not given again.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await driver.fail('prepareSession', 'retry');
    await reload(driver);
    expect(driver.inputOf('prepareSession')).toMatchObject({ generation: 3, besides: 1 });
    await driver.settle('prepareSession');
    expect(driver.context).toMatchObject({ generation: 3, retiring: 1 });
  });

  it('prepares anew where the entry changes again meanwhile.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await reload(driver, 'sse');
    expect(driver.path).toBe('ready.resting+current+preparing');
    expect(driver.inputOf('prepareSession')).toMatchObject({ generation: 3, besides: 1 });
    expect(driver.running().filter((slot) => slot === 'prepareSession')).toHaveLength(1);
    expect(driver.context.next?.transport).toBe('sse');
  });

  it('has never more than two sessions: one that still retires ends before the next is prepared.', async () => {
    const driver = await replaced();
    await reload(driver);
    expect(driver.path).toBe('ready.resting+current+preparing');
    expect(driver.running()).not.toContain('retireSession');
    await driver.fail('prepareSession', 'retry');
    expect(driver.path).toBe('ready.resting+current+retiring');
    await driver.settle('retireSession');
    expect(driver.context).toMatchObject({
      generation: 2,
      retiring: null,
      outdated: { code: 'connection-lost' },
    });
  });

  it('waits with its rest until the new session is there.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await expect(driver.watcher('session.idle')).resolves.toBe('ignored');
    expect(driver.path).toBe('ready.resting+current+preparing');
  });

  it('takes the numbers of an entry that changes once more, for the session that is to come as well.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    const policy = { ...PLAIN_POLICY, maxAttempts: 7 };
    await driver.fact({ type: 'policy.changed', policy });
    await driver.settle('prepareSession');
    expect(driver.context.policy.maxAttempts).toBe(7);
  });
});

describe('a session that can only be had in place of the old one', () => {
  it.each(['http', 'in-process', 'sse'] as const)(
    'is not prepared beside a program (%s after stdio).',
    async (transport) => {
      const driver = await readyDriver({ transport: 'stdio' });
      await reload(driver, transport);
      expect(driver.path).toBe('shuttingDown.draining');
      expect(driver.context).toMatchObject({ transport, next: null });
    },
  );

  it('is not prepared where it is a program.', async () => {
    const driver = await readyDriver();
    await reload(driver, 'stdio');
    expect(driver.path).toBe('shuttingDown.draining');
  });

  it('takes its turn where somebody has to approve the entry first.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await driver.settle('prepareSession', { kind: 'untrusted' });
    expect(driver.path).toBe('shuttingDown.draining');
    expect(driver.context).toMatchObject({ policy: { maxAttempts: 9 }, next: null });
    await driver.settle('drainCalls');
    await driver.settle('closeSession');
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(driver.path).toBe('configuring.awaitingTrust');
  });

  it('takes its turn where somebody has to sign in first.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await driver.fail('prepareSession', 'authorize');
    expect(driver.path).toBe('shuttingDown.draining');
  });

  it.each([
    [400, 'shuttingDown.draining'],
    [409, 'shuttingDown.draining'],
    [403, 'ready.resting+current'],
    [503, 'ready.resting+current'],
  ])('takes its turn where the server has room for one session only (HTTP %d).', async (status, path) => {
    const driver = await readyDriver();
    await reload(driver);
    const http = { status };
    await driver.fail(
      'prepareSession',
      driver.failure('retry', 'handshake', { code: 'http-status', message: `HTTP ${status}`, http }),
    );
    expect(driver.path).toBe(path);
  });

  it.each(['stop', 'restart'] as const)('gives way to a %s.', async (command) => {
    const driver = await readyDriver();
    await reload(driver);
    await driver.command(`connection.${command}`);
    expect(driver.path).toBe('shuttingDown.draining');
    expect(driver.running()).toEqual(['drainCalls']);
    await driver.settle('drainCalls');
    await driver.settle('closeSession');
    if (command === 'stop') return expect(driver.path).toBe('stopped');
    await driver.settle('resolveConfig');
    expect(driver.context).toMatchObject({ generation: 3, policy: { maxAttempts: 9 }, next: null });
  });
});
