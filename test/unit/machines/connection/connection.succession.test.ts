/** A changed entry of a remote server: the new session starts beside the old one. */
import { describe, expect, it } from 'vitest';
import type { TransportKind } from '../../../../machines/connection/connection.events.js';
import { ConnectionDriver, PLAIN_POLICY, type DriverOptions } from '../../../support/connection-driver.js';
import type { HeldEffect } from '../../../support/held-effects.js';

const CHANGED = {
  ...PLAIN_POLICY,
  maxAttempts: 9,
  launchTimeoutMs: 76,
  handshakeTimeoutMs: 77,
  listTimeoutMs: 78,
  stop: { ...PLAIN_POLICY.stop, deleteMs: 20, stdinEndMs: 30, termMs: 50 },
};

const STEPS = ['resolveConfig', 'openTransport', 'handshake', 'readTools'] as const;

/** Steps of a successor in which its session may be alive. */
const ALIVE = STEPS.slice(1);

type Step = (typeof STEPS)[number];

async function readyDriver(options: DriverOptions = {}): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver({ transport: 'http', ...options });
  await driver.bringUp();
  return driver;
}

async function reload(driver: ConnectionDriver, transport: TransportKind = 'http'): Promise<void> {
  await driver.command({ type: 'connection.reload', transport, policy: CHANGED, wanted: false });
}

/** Brings the successor to that step, or lets it take over. */
async function prepare(driver: ConnectionDriver, until?: Step): Promise<void> {
  const end = until === undefined ? STEPS.length : STEPS.indexOf(until);
  for (const slot of STEPS.slice(0, end)) await driver.settle(slot, {}, 'successor');
}

async function preparing(until: Step, options?: DriverOptions): Promise<ConnectionDriver> {
  const driver = await readyDriver(options);
  await reload(driver);
  await prepare(driver, until);
  return driver;
}

/** Ready with the new entry, while the old session ends. */
async function replaced(): Promise<ConnectionDriver> {
  const driver = await readyDriver();
  await reload(driver);
  await prepare(driver);
  await driver.settle('adoptTools');
  await driver.settle('enrichCatalog');
  return driver;
}

/** Ready with the former entry, because the new one does not work. */
async function outdated(options?: DriverOptions): Promise<ConnectionDriver> {
  const driver = await preparing('handshake', options);
  await driver.fail('handshake', 'retry');
  await driver.settle('retireSession');
  return driver;
}

async function shutDown(driver: ConnectionDriver): Promise<void> {
  await driver.settle('drainCalls');
  await driver.settle('closeSession');
}

const types = (driver: ConnectionDriver): string[] => driver.emitted.map(({ type }) => type);

const inputsOf = (driver: ConnectionDriver, slot: HeldEffect['slot']): HeldEffect['input'][] =>
  driver.started.filter((effect) => effect.slot === slot).map(({ input }) => input);

describe('a reload of a connection that is reached over a network', () => {
  it('keeps the session in use until its successor takes over.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    for (const step of STEPS) {
      expect(driver.running()).toEqual([step, 'watchSession'].toSorted());
      expect(driver.context).toMatchObject({
        generation: 1,
        issued: 2,
        policy: { maxAttempts: PLAIN_POLICY.maxAttempts },
      });
      await driver.settle(step);
    }
    expect(driver.context).toMatchObject({ generation: 2, policy: CHANGED, next: null });
  });

  it('starts the successor with the new entry and its numbers, and a generation of its own.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await prepare(driver);
    expect(driver.inputOf('resolveConfig')).toEqual({ name: 'files', generation: 2, wanted: true });
    expect(driver.inputOf('openTransport')).toEqual({
      name: 'files',
      generation: 2,
      limitMs: 76,
      replaces: 1,
    });
    expect(driver.inputOf('handshake')).toEqual({ name: 'files', generation: 2, limitMs: 77 });
    expect(driver.inputOf('readTools')).toEqual({ name: 'files', generation: 2, limitMs: 78 });
    expect(driver.inputOf('adoptTools')).toEqual({ name: 'files', generation: 2 });
    expect(driver.running()).toContain('adoptTools');
  });

  it('uses the new session once its tools are adopted, and reports no loss.', async () => {
    const driver = await readyDriver();
    driver.emitted.splice(0);
    await reload(driver, 'sse');
    await prepare(driver);
    expect(driver.path).toBe('ready.resting+adopting+listing+retiring');
    expect(driver.context).toMatchObject({ generation: 2, issued: 2, retiring: 1, transport: 'sse' });
    expect(types(driver)).toEqual(['attempting', 'opened', 'initialized', 'listed']);
    await driver.settle('adoptTools');
    expect(driver.path).toBe('ready.resting+current+listing+retiring');
    expect(types(driver).slice(4)).toEqual(['adopted', 'ready']);
    expect(driver.emitted.every((event) => 'generation' in event && event.generation === 2)).toBe(true);
    expect(driver.inputOf('watchSession')).toMatchObject({ generation: 2 });
    expect(driver.inputOf('enrichCatalog')).toMatchObject({ generation: 2 });
  });

  it('takes its transport and URL from the open session, not from the entry.', async () => {
    const driver = await preparing('openTransport');
    await driver.advance(40);
    await driver.settle('openTransport', { transport: 'sse', url: 'https://example.com/sse' });
    expect(driver.context).toMatchObject({ transport: 'http', at: driver.clock.now() });
    for (const step of STEPS.slice(2)) await driver.settle(step);
    expect(driver.context).toMatchObject({ transport: 'sse', url: 'https://example.com/sse' });
  });

  it('counts no attempt, and leaves no failure.', async () => {
    const driver = await replaced();
    expect(driver.context).toMatchObject({ attempt: 1, failure: null });
  });

  it('refreshes the list of the current session anyway.', async () => {
    const driver = await preparing('readTools');
    await driver.command('connection.refresh');
    await driver.settle('readTools', {}, 'current');
    expect(driver.path).toBe('ready.resting+refreshing.adopting+listing+preparing.listing');
    await driver.settle('adoptTools', { hash: 'of the old' });
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'adopted', generation: 1, hash: 'of the old' });
    expect(driver.path).toBe('ready.resting+current+listing+preparing.listing');
  });

  it('is ready with the former tools if the new ones cannot be adopted, and can be refreshed.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await prepare(driver);
    await driver.fail('adoptTools', 'retry');
    expect(driver.snapshot.hasTag('stale')).toBe(true);
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'ready', generation: 2 });
    expect(await driver.command('connection.refresh')).toBe('accepted');
  });

  it.each([
    ['is adopted', ['adopted', 'ready'], (driver: ConnectionDriver) => driver.settle('adoptTools')],
    ['cannot be adopted', ['ready'], (driver: ConnectionDriver) => driver.fail('adoptTools', 'retry')],
  ])('reads the list once more if it changed before it %s.', async (_, emitted, settle) => {
    const driver = await readyDriver();
    await reload(driver);
    await prepare(driver);
    await driver.listChanged();
    driver.emitted.splice(0);
    await settle(driver);
    expect(types(driver)).toEqual(emitted);
    await driver.advance(300);
    expect(driver.inputOf('readTools')).toMatchObject({ generation: 2 });
    expect(driver.running()).toContain('readTools');
  });

  it('does nothing more for a refresh while its lists are being read.', async () => {
    const driver = await readyDriver();
    await reload(driver);
    await prepare(driver);
    expect(driver.path).toBe('ready.resting+adopting+listing+retiring');
    expect(await driver.command('connection.refresh')).toBe('ignored');
  });

  it('uses a generation once: one of a session that was never in use is not used again.', async () => {
    const driver = await outdated();
    await reload(driver);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ generation: 3 });
    await prepare(driver);
    expect(driver.context).toMatchObject({ generation: 3, retiring: 1 });
  });

  it('uses the numbers of another changed entry for the next session, too.', async () => {
    const driver = await preparing('handshake');
    const policy = { ...PLAIN_POLICY, maxAttempts: 7, listTimeoutMs: 79 };
    await driver.fact({ type: 'policy.changed', policy });
    await driver.settle('handshake');
    expect(driver.inputOf('readTools')).toMatchObject({ limitMs: 79 });
    await driver.settle('readTools');
    expect(driver.context.policy.maxAttempts).toBe(7);
  });

  it('gives the watch of the session in use its new limits.', async () => {
    const driver = await readyDriver();
    const policy = { ...PLAIN_POLICY, stableMs: 1, idleStopMs: 2, ping: { idleMs: 3, timeoutMs: 4 } };
    await driver.fact({ type: 'policy.changed', policy });
    expect(driver.watched).toEqual([
      { type: 'limits.changed', limits: { pingIdleMs: 3, stableMs: 1, idleStopMs: 2 } },
    ]);
    expect(inputsOf(driver, 'watchSession')).toHaveLength(1);
  });

  it('does not let the connection become idle until the new session is ready.', async () => {
    const driver = await preparing('resolveConfig');
    await expect(driver.watcher('session.idle')).resolves.toBe('ignored');
    expect(driver.path).toBe('ready.resting+current+preparing.resolving');
  });
});

describe('the session that was replaced', () => {
  it('finishes its calls, as long as the new entry allows, and ends by itself.', async () => {
    const driver = await replaced();
    expect(driver.path).toBe('ready.resting+current+retiring');
    expect(driver.inputOf('retireSession')).toEqual({
      name: 'files',
      generation: 1,
      drainMs: 60_000,
      closeMs: 30 + 50 + 1_000,
    });
    await driver.settle('retireSession');
    expect(driver.path).toBe('ready.resting+current');
    expect(driver.context.retiring).toBeNull();
    expect(inputsOf(driver, 'closeSession')).toEqual([]);
  });

  it('keeps the connection from becoming idle until it has ended.', async () => {
    const driver = await replaced();
    await expect(driver.watcher('session.idle')).resolves.toBe('ignored');
    await driver.settle('retireSession');
    await driver.watcher('session.idle');
    expect(driver.path).toBe('shuttingDown.draining+resting');
  });

  it('leaves the connection ready if it cannot be ended.', async () => {
    const driver = await replaced();
    await driver.fail('retireSession', 'permanent');
    expect(driver.path).toBe('ready.resting+current');
  });

  it('finishes its calls undisturbed by another reload, whose session opens only then.', async () => {
    const driver = await replaced();
    await reload(driver);
    await driver.settle('resolveConfig');
    expect(driver.path).toBe('ready.resting+current+preparing.awaitingRetirement+retiring');
    expect(inputsOf(driver, 'retireSession')).toHaveLength(1);
    expect(driver.running()).toEqual(['retireSession', 'watchSession']);
    await driver.settle('retireSession');
    expect(driver.path).toBe('ready.resting+current+preparing.opening');
    expect(driver.inputOf('openTransport')).toMatchObject({ generation: 3, replaces: 2 });
  });

  it('ends with the current session, if that is lost.', async () => {
    const driver = await replaced();
    await driver.lose('retry');
    await driver.settle('releaseSession');
    expect(driver.context.retiring).toBeNull();
    await driver.advance(0);
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });
});

describe('a successor that does not work', () => {
  it('leaves the current session, and reports why.', async () => {
    const driver = await preparing('resolveConfig');
    const failure = driver.failure('permanent', 'configure', { code: 'variable-missing' });
    await driver.fail('resolveConfig', failure);
    expect(driver.path).toBe('ready.resting+current');
    expect(driver.context).toMatchObject({ generation: 1, failure: null, policy: PLAIN_POLICY });
    expect(driver.emitted.at(-1)).toEqual({ type: 'outdated', failure });
  });

  it.each(ALIVE)('is ended, if it fails in %s, before another may open.', async (step) => {
    const driver = await preparing(step);
    await driver.fail(step, 'retry');
    expect(driver.path).toBe('ready.resting+current+preparing.discarding');
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'outdated' });
    expect(driver.inputOf('retireSession')).toMatchObject({ generation: 2, drainMs: 0 });
    await driver.settle('retireSession');
    expect(driver.path).toBe('ready.resting+current');
  });

  it('leaves the session in use if it cannot be ended.', async () => {
    const driver = await preparing('handshake');
    await driver.fail('handshake', 'retry');
    await driver.fail('retireSession', 'permanent');
    expect(driver.path).toBe('ready.resting+current');
  });

  it.each(['retry', 'permanent', 'authorize'] as const)(
    'is tried again in place of the session in use, once that is lost (%s).',
    async (how) => {
      const driver = await outdated({ policy: { maxAttempts: 1 } });
      driver.emitted.splice(0);
      await driver.lose(how);
      expect(driver.path).toBe('shuttingDown.draining+reloading');
      expect(driver.context).toMatchObject({ policy: CHANGED, next: null, failure: { phase: 'session' } });
      expect(types(driver)).toEqual(['lost']);
      await shutDown(driver);
      await driver.bringUp();
      expect(driver.path).toBe('ready.resting+current');
      expect(driver.context).toMatchObject({ generation: 3, attempt: 1, failure: null });
    },
  );

  it.each(['session.unreachable', 'a missed ping'])('is tried again after %s, too.', async (how) => {
    const driver = await outdated();
    if (how === 'session.unreachable') await driver.unreachable(2);
    else {
      await driver.watcher('session.quiet');
      await driver.fail('probe', 'retry');
      await driver.fail('probe', 'retry');
    }
    expect(driver.path).toBe('shuttingDown.draining+reloading');
  });

  it('does not outlive a sign-in: the next session resolves the current entry.', async () => {
    const driver = await readyDriver();
    await reload(driver, 'sse');
    await prepare(driver);
    await driver.lose('authorize');
    await driver.settle('releaseSession');
    await driver.settle('authorize');
    await driver.settle('resolveConfig');
    expect(driver.context).toMatchObject({ generation: 3, transport: 'sse', policy: CHANGED });
    expect(inputsOf(driver, 'resolveConfig').at(-1)).toMatchObject({ generation: 3 });
  });
});

describe('another reload while a successor is prepared', () => {
  it('begins again at once, with the newest entry and another generation.', async () => {
    const driver = await preparing('resolveConfig');
    await reload(driver, 'sse');
    expect(driver.path).toBe('ready.resting+current+preparing.resolving');
    expect(driver.running()).toEqual(['resolveConfig', 'watchSession']);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ generation: 3 });
    expect(driver.context.next?.transport).toBe('sse');
  });

  it.each(ALIVE)('ends the first successor, in %s, before the second opens.', async (step) => {
    const driver = await preparing(step);
    await reload(driver);
    expect(driver.path).toBe('ready.resting+current+preparing.resolving+retiring');
    expect(driver.inputOf('retireSession')).toMatchObject({ generation: 2 });
    await driver.settle('resolveConfig');
    expect(driver.running()).not.toContain('openTransport');
    await driver.settle('retireSession');
    expect(driver.inputOf('openTransport')).toMatchObject({ generation: 3, replaces: 1 });
  });

  it('ends the first successor even if the second cannot be resolved.', async () => {
    const driver = await preparing('handshake');
    await reload(driver);
    await driver.fail('resolveConfig', 'retry');
    expect(driver.path).toBe('ready.resting+current+retiring');
    expect(driver.inputOf('retireSession')).toMatchObject({ generation: 2 });
  });

  it('gives up the successor if the newest entry is a program.', async () => {
    const driver = await preparing('handshake');
    await reload(driver, 'stdio');
    expect(driver.path).toBe('shuttingDown.draining+reloading');
    expect(driver.context).toMatchObject({ transport: 'stdio', next: null });
  });

  it('continues to end a successor that was being discarded.', async () => {
    const driver = await preparing('handshake');
    await driver.fail('handshake', 'retry');
    await reload(driver);
    expect(driver.path).toBe('ready.resting+current+preparing.resolving+retiring');
    expect(driver.inputOf('retireSession')).toMatchObject({ generation: 2 });
  });
});

describe('a session that cannot be prepared beside the old one', () => {
  it.each(['http', 'in-process', 'sse'] as const)(
    'is not prepared beside a program (%s after stdio).',
    async (transport) => {
      const driver = await readyDriver({ transport: 'stdio' });
      await reload(driver, transport);
      expect(driver.path).toBe('shuttingDown.draining+reloading');
      expect(driver.context).toMatchObject({ transport, next: null });
    },
  );

  it('is not prepared if it is a program.', async () => {
    const driver = await readyDriver();
    await reload(driver, 'stdio');
    expect(driver.path).toBe('shuttingDown.draining+reloading');
  });

  it('waits for the end of the session in use if somebody has to trust the entry first.', async () => {
    const driver = await preparing('resolveConfig');
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(driver.path).toBe('shuttingDown.draining+reloading');
    expect(driver.context).toMatchObject({ policy: CHANGED, next: null });
    await shutDown(driver);
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(driver.path).toBe('configuring.awaitingTrust');
  });

  it.each(STEPS)(
    'waits for the end of the session in use if a person has to sign in first (%s).',
    async (step) => {
      const driver = await preparing(step);
      await driver.fail(step, 'authorize');
      expect(driver.path).toBe('shuttingDown.draining+reloading');
      expect(types(driver)).not.toContain('outdated');
    },
  );

  it('leaves the session in use if the server wants a sign-in and nobody can sign in.', async () => {
    const driver = await preparing('handshake');
    await driver.fail('handshake', 'authorize', { canSignIn: false });
    expect(driver.path).toBe('ready.resting+current+preparing.discarding');
    expect(types(driver)).toContain('outdated');
    await driver.settle('retireSession');
    expect(driver.path).toBe('ready.resting+current');
    expect(driver.context).toMatchObject({ generation: 1, failure: null });
  });

  it.each([
    [400, 'shuttingDown.draining+reloading'],
    [409, 'shuttingDown.draining+reloading'],
    [403, 'ready.resting+current+preparing.discarding'],
    [503, 'ready.resting+current+preparing.discarding'],
  ])('replaces the session if the server accepts only one session (HTTP %d).', async (status, path) => {
    const driver = await preparing('handshake');
    await driver.fail('handshake', 'retry', { code: 'http-status', http: { status } });
    expect(driver.path).toBe(path);
  });

  it.each(['stop', 'restart'] as const)('gives way to a %s.', async (command) => {
    const driver = await preparing('handshake');
    await driver.command(`connection.${command}`);
    expect(driver.running()).toEqual(['drainCalls']);
    await shutDown(driver);
    if (command === 'stop') return expect(driver.path).toBe('stopped');
    await driver.settle('resolveConfig');
    expect(driver.context).toMatchObject({ generation: 3, policy: CHANGED, next: null });
  });
});
