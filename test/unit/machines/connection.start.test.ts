/** The way to the first session: trust, idleness, the start slot, sign-in. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver } from '../../support/connection-driver.js';
import { sampleFailure } from '../../support/sample-failures.js';

describe('an entry that is not trusted', () => {
  it('waits for a user and starts nothing.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    await driver.advance(600_000);
    expect(driver.emitted).toEqual([{ type: 'trustRequired' }]);
    expect(driver.snapshot.hasTag('waitingForPerson')).toBe(true);
    expect(driver.started.map(({ slot }) => slot)).toEqual(['resolveConfig']);
  });

  it('is denied at the time of the machine, since the command carries no time.', async () => {
    const driver = new ConnectionDriver();
    await driver.advance(40);
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    const at = driver.clock.now();
    await driver.advance(5_000);
    await driver.command('trust.denied');
    expect(driver.context.failure).toMatchObject({ at });
  });

  it('starts when it is trusted.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    await driver.command('trust.granted');
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('fails when it is denied, and a retry requests trust again.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    await driver.command('trust.denied');
    expect(driver.context.failure).toMatchObject({ code: 'trust-denied', phase: 'configure' });
    await driver.settle('releaseSession');
    await driver.command('connection.retry');
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    expect(driver.path).toBe('configuring.awaitingTrust');
    await driver.command('trust.granted');
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('remembers that a start was requested in the meantime.', async () => {
    const driver = new ConnectionDriver({ wanted: false });
    await driver.settle('resolveConfig', { kind: 'untrusted' });
    await driver.command('connection.start');
    await driver.command('trust.granted');
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
  });
});

describe('an invalid entry', () => {
  it('fails at once, with its cause, and starts nothing.', async () => {
    const driver = new ConnectionDriver();
    await driver.fail(
      'resolveConfig',
      driver.failure('permanent', 'configure', { code: 'variable-missing' }),
    );
    expect(driver.path).toBe('failed.permanent.releasing');
    expect(driver.emitted).toMatchObject([{ type: 'failed', failure: { code: 'variable-missing' } }]);
    expect(driver.context).toMatchObject({ attempt: 0, failure: { code: 'variable-missing' } });
  });
});

describe('an entry that cannot be read now', () => {
  it('is tried again for a call, at intervals.', async () => {
    const driver = new ConnectionDriver();
    await driver.fail('resolveConfig', 'retry');
    await driver.settle('releaseSession');
    expect(driver.path).toBe('failed.exhausted.resting');
    const at = driver.clock.now();
    expect(await driver.fact({ type: 'call.waiting', at: at + 29_999 })).toBe('ignored');
    expect(await driver.fact({ type: 'call.waiting', at: at + 30_000 })).toBe('accepted');
    expect(driver.running()).toEqual(['resolveConfig']);
  });
});

describe('a connection that replaces a crashed one', () => {
  async function crashed(): Promise<ConnectionDriver> {
    const crash = sampleFailure('permanent', 'session', 5, { code: 'internal' });
    return new ConnectionDriver({ crash, generation: 7 });
  }

  it('has failed, with the cause, and releases the inherited session.', async () => {
    const driver = await crashed();
    expect(driver.path).toBe('failed.permanent.releasing');
    expect(driver.context.failure).toMatchObject({ code: 'internal' });
    expect(driver.inputOf('releaseSession')).toMatchObject({ generation: 7 });
  });

  it('does not fail again with the same cause once it is retried.', async () => {
    const driver = await crashed();
    await driver.settle('releaseSession');
    await driver.command('connection.retry');
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
    expect(driver.context).toMatchObject({ generation: 8, failure: null });
    await driver.command('connection.restart');
    await driver.settle('drainCalls');
    await driver.settle('closeSession');
    expect(driver.path).toBe('configuring.resolving');
  });
});

describe('a lazy connection', () => {
  it('is idle if its catalog is known, until it is needed.', async () => {
    const driver = new ConnectionDriver({ wanted: false });
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: false });
    await driver.advance(40);
    await driver.settle('resolveConfig', { kind: 'dormant' });
    expect(driver.running()).toEqual([]);
    expect(driver.context.at).toBe(driver.clock.now());
    await driver.command('connection.start');
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
  });

  it.each([
    ['a start', (driver: ConnectionDriver) => driver.command('connection.start')],
    ['a call', (driver: ConnectionDriver) => driver.fact({ type: 'call.waiting', at: 0 })],
  ])('does not become idle despite %s that came while the catalog was looked up.', async (_, ask) => {
    const driver = new ConnectionDriver({ wanted: false });
    await ask(driver);
    expect(driver.running()).toEqual(['resolveConfig']);
    expect(driver.started.map(({ input }) => 'wanted' in input && input.wanted)).toEqual([false, true]);
  });

  it('that was launched comes back when it is lost.', async () => {
    const driver = new ConnectionDriver({ wanted: false });
    await driver.bringUp();
    await driver.lose('retry');
    await driver.settle('releaseSession');
    await driver.advance(0);
    expect(driver.inputOf('resolveConfig')).toMatchObject({ wanted: true });
  });
});

describe('the start of a stdio server', () => {
  it('waits for its slot without another timer.', async () => {
    const driver = new ConnectionDriver();
    await driver.settle('resolveConfig');
    expect(driver.reports).toEqual(['child.wantsSlot']);
    expect(driver.running()).toEqual([]);
    expect(driver.clock.pending).toEqual([]);
    await driver.fact({ type: 'slot.granted' });
    expect(driver.running()).toEqual(['openTransport']);
  });

  it('keeps its slot until it is ready.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp('adoptTools');
    expect(driver.reports).toEqual(['child.wantsSlot']);
    await driver.settle('adoptTools');
    expect(driver.reports).toEqual(['child.wantsSlot', 'child.leftStart', 'child.settled']);
  });

  it.each([
    { how: 'it fails', leave: (driver: ConnectionDriver) => driver.fail('openTransport', 'retry') },
    { how: 'it is given up', leave: (driver: ConnectionDriver) => driver.fail('openTransport', 'permanent') },
    {
      how: 'it needs sign-in',
      leave: (driver: ConnectionDriver) => driver.fail('openTransport', 'authorize'),
    },
    { how: 'it is stopped', leave: (driver: ConnectionDriver) => driver.command('connection.stop') },
    { how: 'it is restarted', leave: (driver: ConnectionDriver) => driver.command('connection.restart') },
  ])('returns its slot if $how.', async ({ leave }) => {
    const driver = new ConnectionDriver();
    await driver.bringUp('openTransport');
    await leave(driver);
    expect(driver.reports).toEqual(['child.wantsSlot', 'child.leftStart', 'child.settled']);
  });

  it('asks for a slot again with every attempt.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp('openTransport');
    await driver.fail('openTransport', 'retry');
    await driver.settle('releaseSession');
    await driver.advance(1_000);
    await driver.settle('resolveConfig');
    expect(driver.reports.filter((report) => report === 'child.wantsSlot')).toHaveLength(2);
    expect(driver.path).toBe('launching.waitingForSlot');
  });
});

describe('the start of any other server', () => {
  it.each(['http', 'sse', 'in-process'] as const)(
    'by %s needs no slot and asks for none.',
    async (transport) => {
      const driver = new ConnectionDriver({ transport });
      await driver.bringUp();
      await driver.stop();
      expect(driver.reports).toEqual(['child.leftStart', 'child.settled']);
    },
  );
});

describe('the end of the first attempt', () => {
  it('is reported once per connection, whatever happens later.', async () => {
    const driver = new ConnectionDriver();
    await driver.bringUp('openTransport');
    await driver.fail('openTransport', 'retry');
    await driver.settle('releaseSession');
    await driver.advance(1_000);
    await driver.bringUp();
    await driver.lose('permanent');
    await driver.settle('releaseSession');
    await driver.command('connection.restart');
    await driver.settle('drainCalls');
    await driver.settle('closeSession');
    await driver.bringUp();
    await driver.stop();
    expect(driver.reports.filter((report) => report === 'child.settled')).toHaveLength(1);
  });

  it.each(['untrusted', 'dormant'] as const)('is reported if it is %s.', async (kind) => {
    const driver = new ConnectionDriver({ wanted: false });
    await driver.settle('resolveConfig', { kind });
    expect(driver.reports).toEqual(['child.settled']);
  });
});

describe('sign-in', () => {
  async function signingIn(): Promise<ConnectionDriver> {
    const driver = new ConnectionDriver({ transport: 'http' });
    await driver.bringUp('handshake');
    await driver.fail('handshake', 'authorize');
    await driver.settle('releaseSession');
    return driver;
  }

  it('is requested once the session is released.', async () => {
    const driver = new ConnectionDriver({ transport: 'http' });
    await driver.bringUp('handshake');
    await driver.fail('handshake', 'authorize');
    expect(driver.running()).toEqual(['releaseSession']);
    await driver.settle('releaseSession');
    expect(driver.running()).toEqual(['authorize']);
  });

  it('is not requested while the session may be alive.', async () => {
    const driver = new ConnectionDriver({ transport: 'http' });
    await driver.bringUp('handshake');
    await driver.fail('handshake', 'authorize');
    await driver.fail('releaseSession', 'permanent', { code: 'not-released' });
    expect(driver.path).toBe('failed.unreleased.releasing');
    expect(driver.context.failure).toMatchObject({ code: 'not-released' });
  });

  it('is announced, and no timer runs in the meantime.', async () => {
    const driver = await signingIn();
    expect(driver.emitted.slice(-1)).toEqual([{ type: 'released' }]);
    expect(driver.clock.pending).toEqual([]);
    expect(driver.inputOf('authorize')).toEqual({ name: 'files', generation: 1 });
  });

  it('counts no attempt, resolves the configuration again, and opens a new session.', async () => {
    const driver = await signingIn();
    await driver.settle('authorize');
    expect(driver.inputOf('resolveConfig')).toMatchObject({ generation: 2 });
    await driver.bringUp('handshake');
    expect(driver.context).toMatchObject({ attempt: 1, generation: 2 });
  });

  it('does not give back an attempt that was never made.', async () => {
    const driver = new ConnectionDriver({ transport: 'http' });
    await driver.bringUp();
    await driver.watcher('session.stable');
    await driver.lose('authorize');
    expect(driver.context.attempt).toBe(0);
  });

  it('does not count as time in the queue.', async () => {
    const driver = await signingIn();
    await driver.advance(90_000);
    await driver.settle('authorize');
    await driver.bringUp('handshake');
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'opened', queuedMs: 0 });
  });

  it('that an open session requires is a loss first, and a retry releases the session.', async () => {
    const driver = new ConnectionDriver({ transport: 'http' });
    await driver.bringUp();
    driver.emitted.splice(0);
    await driver.lose('authorize');
    expect(driver.path).toBe('configuring.authorizing.releasing');
    expect(driver.emitted.map(({ type }) => type)).toEqual(['lost']);
    expect(driver.context).toMatchObject({ failure: { code: 'auth-required' } });
    await driver.command('connection.retry');
    expect(driver.running()).toEqual(['releaseSession']);
    await driver.settle('releaseSession');
    await driver.advance(0);
    await driver.bringUp();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('that is not completed is a failure, with its cause.', async () => {
    const driver = await signingIn();
    expect(driver.context.failure).toMatchObject({ code: 'auth-required' });
    await driver.fail('authorize', driver.failure('retry', 'handshake', { code: 'address-refused' }));
    expect(driver.path).toBe('failed.exhausted.releasing');
    expect(driver.context.failure).toMatchObject({ code: 'address-refused' });
  });
});

describe('the limits of the effects', () => {
  const LIMITS = {
    launchTimeoutMs: 101,
    handshakeTimeoutMs: 102,
    listTimeoutMs: 103,
    releaseTimeoutMs: 104,
    ping: { idleMs: 105, timeoutMs: 106 },
    stableMs: 107,
    idleStopMs: 108,
    stop: { drainMs: 109, deleteMs: 110, stdinEndMs: 111, termMs: 112 },
  };

  it('come from the policy, with the session that each effect works on.', async () => {
    const driver = new ConnectionDriver({ policy: LIMITS });
    await driver.bringUp();
    await driver.watcher('session.quiet');
    await driver.command('connection.refresh');
    await driver.lose('retry');
    await driver.command('connection.stop');
    await driver.settle('drainCalls');
    await driver.command('connection.stop');
    const limited = driver.started.filter(({ input }) => 'limitMs' in input);
    expect(limited.map(({ slot, input }) => [slot, 'limitMs' in input && input.limitMs])).toEqual([
      ['openTransport', 101],
      ['handshake', 102],
      ['readTools', 103],
      ['enrichCatalog', 103],
      ['probe', 106],
      ['readTools', 103],
      ['enrichCatalog', 103],
      ['releaseSession', 104],
      ['drainCalls', 109],
      ['closeSession', 1_223],
      ['killSession', 104],
    ]);
    expect(
      limited.every(({ input }) => input.name === 'files' && 'generation' in input && input.generation === 1),
    ).toBe(true);
    expect(driver.inputOf('openTransport')).toStrictEqual({
      name: 'files',
      generation: 1,
      limitMs: 101,
      replaces: null,
    });
    expect(driver.inputOf('watchSession')).toEqual({
      name: 'files',
      generation: 1,
      pingIdleMs: 105,
      stableMs: 107,
      idleStopMs: 108,
    });
  });
});
