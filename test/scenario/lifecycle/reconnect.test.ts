import { describe, expect, it } from 'vitest';
import { CallTimeoutError } from '../../../src/errors.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useOneFake } from '../../support/one-server.js';
import { refuse, silent } from '../../support/scripted-server.js';
import { passTime, type TestTroupe } from '../../support/test-troupe.js';

const EXITED = { code: 'process-exited', message: 'It exited.', exit: { code: 3, signal: null } } as const;

const whenReadyAgain = ({ clock, events }: TestTroupe, generation: number): Promise<unknown> =>
  passTime(
    clock,
    events.when('connection.ready', (event) => event.generation === generation),
  );

describe('a session that is lost', () => {
  useLeakCheck();
  useCrashWatch();
  const { begin } = useOneFake();

  it('is reported with its cause, and a new one is opened at once, with the same tools', async () => {
    const server = new FakeServer();
    const test = await begin(server);
    const before = test.troupe.tools.map(({ name }) => name);
    const lostAt = test.clock.now();
    server.transport.simulateEnd(EXITED);
    await test.events.when('connection.retrying');
    await test.clock.advance(0);
    await test.events.when('connection.ready', ({ generation }) => generation === 2);
    expect(test.clock.now()).toBe(lostAt);
    expect(test.events.of('connection.lost')).toMatchObject([
      { server: 'a', generation: 1, failure: { ...EXITED, phase: 'session', at: lostAt } },
    ]);
    expect(test.events.of('connection.retrying')).toMatchObject([{ attempt: 2, maxAttempts: 5, delayMs: 0 }]);
    expect(test.troupe.tools.map(({ name }) => name)).toEqual(before);
    expect(test.events.of('catalog.changed')).toHaveLength(1);
    expect(test.troupe.connection('a')?.status).toMatchObject({
      state: 'ready',
      generation: 2,
      error: null,
      lastExit: { code: 3, signal: null },
    });
  });

  it('is published in order: the state, the loss, the retry, ready', async () => {
    const server = new FakeServer();
    const test = await begin(server);
    const from = test.events.all.length;
    server.transport.simulateEnd(EXITED);
    await whenReadyAgain(test, 2);
    const order = test.events.all
      .slice(from)
      .map((event) => (event.type === 'connection.state' ? `${event.to} ${event.substate}` : event.type));
    expect(order).toEqual([
      'reconnecting releasing',
      'connection.lost',
      'reconnecting backingOff',
      'connection.retrying',
      'configuring resolving',
      'launching opening',
      'handshaking initializing',
      'handshaking listing',
      'handshaking adopting',
      'ready resting+current',
      'connection.ready',
    ]);
  });

  it('is proven gone before the next one is opened', async () => {
    const server = new FakeServer();
    const test = await begin(server);
    const [first] = server.transports;
    server.transport.simulateEnd(EXITED);
    await whenReadyAgain(test, 2);
    expect(first?.asked).toEqual(['start', 'close']);
    expect(server.transports).toHaveLength(2);
  });

  it('a second time within a minute is replaced after a delay', async () => {
    const server = new FakeServer();
    const test = await begin(server);
    server.transport.simulateEnd(EXITED);
    await whenReadyAgain(test, 2);
    server.transport.simulateEnd(EXITED);
    await whenReadyAgain(test, 3);
    const [first, second] = test.events.of('connection.retrying');
    expect(first?.delayMs).toBe(0);
    expect(second?.delayMs).toBeGreaterThan(0);
  });

  it('five times within 30 s is a crash loop, and the failure has the last cause', async () => {
    const server = new FakeServer();
    const test = await begin(server, { policy: { backoff: [10], maxAttempts: 100 } });
    for (let generation = 2; generation <= 5; generation += 1) {
      server.transport.simulateEnd(EXITED);
      await whenReadyAgain(test, generation);
    }
    server.transport.simulateEnd(EXITED);
    const { failure } = await test.events.when('connection.failed');
    expect(failure).toMatchObject({ code: 'crash-loop', exit: EXITED.exit });
    expect(failure.message).toContain(EXITED.message);
    await test.clock.advance(600_000);
    expect(server.transports).toHaveLength(5);
    await expect(test.troupe.connection('a')?.ready()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await test.troupe.connection('a')?.retry();
    expect(test.troupe.connection('a')?.state).toBe('ready');
  });
});

describe('a server that does not start', () => {
  useLeakCheck();
  useCrashWatch();
  const { begin } = useOneFake();

  it('is tried as often as the policy allows, and then has failed with the cause', async () => {
    const refused = new TransportError({ code: 'spawn-failed', message: 'Refused by the test.' });
    const server = new FakeServer(() => ({ start: () => Promise.reject(refused) }));
    const test = await begin(server, { policy: { maxAttempts: 3, backoff: [100, 200] } });
    const failed = await passTime(test.clock, test.events.when('connection.failed'));
    expect(failed).toMatchObject({ generation: 3, failure: { code: 'spawn-failed', phase: 'launch' } });
    expect(test.events.of('connection.retrying').map(({ delayMs }) => delayMs)).toEqual([100, 200]);
    expect(server.transports).toHaveLength(3);
    expect(test.troupe.connection('a')?.status).toMatchObject({ attempt: 3, maxAttempts: 3 });
    await expect(test.troupe.connection('a')?.ready()).rejects.toMatchObject({
      code: 'LAUNCH_FAILED',
      server: 'a',
      failure: { code: 'spawn-failed' },
    });
  });

  it('can be tried again at once by retry, with a new round of attempts', async () => {
    let isBroken = true;
    const server = new FakeServer(() => ({
      start: async () => {
        if (isBroken) throw new TransportError({ code: 'spawn-failed', message: 'no' });
      },
    }));
    const test = await begin(server, { policy: { maxAttempts: 1 } });
    isBroken = false;
    await test.troupe.connection('a')?.retry();
    expect(test.troupe.connection('a')?.status).toMatchObject({ state: 'ready', attempt: 1, error: null });
  });

  it.each([
    [
      'it is not launched in time',
      { start: () => new Promise<void>(() => {}) },
      {},
      'launch-timeout',
      'LAUNCH_FAILED',
    ],
    [
      'it does not answer initialize in time',
      {},
      { on: { initialize: silent } },
      'handshake-timeout',
      'HANDSHAKE_FAILED',
    ],
    [
      'it does not list its tools in time',
      {},
      { on: { 'tools/list': silent } },
      'list-timeout',
      'HANDSHAKE_FAILED',
    ],
    [
      'it rejects the list of its tools',
      {},
      { on: { 'tools/list': refuse(-32000, 'db down') } },
      'server-error',
      'HANDSHAKE_FAILED',
    ],
  ] as const)('because %s fails with the cause', async (_, transport, script, failure, code) => {
    const server = new FakeServer(() => transport, script);
    const test = await begin(server, { startTimeoutMs: 2_000, policy: { maxAttempts: 1 } });
    const failing = expect(test.troupe.connection('a')?.ready()).rejects.toMatchObject({
      code,
      failure: { code: failure },
    });
    await passTime(test.clock, failing);
    expect(server.transports.filter(({ isOpen }) => isOpen)).toEqual([]);
  });
});

describe('a server that falls silent', () => {
  useLeakCheck();
  useCrashWatch();
  const { begin } = useOneFake();

  it('is pinged after 30 s, and nothing else happens if it answers', async () => {
    const server = new FakeServer();
    const { clock, events } = await begin(server);
    await clock.advance(29_999);
    expect(server.peer.of('ping')).toEqual([]);
    await clock.advance(1);
    expect(server.peer.of('ping')).toHaveLength(1);
    await clock.advance(300_000);
    expect(server.peer.of('ping').length).toBeGreaterThan(5);
    expect(events.of('connection.lost')).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('is not pinged while it sends anything', async () => {
    const server = new FakeServer();
    const { clock } = await begin(server);
    for (let minute = 0; minute < 10; minute += 1) {
      await clock.advance(20_000);
      server.transport.simulateActivity();
    }
    expect(server.peer.of('ping')).toEqual([]);
  });

  it('counts as alive if it does not know ping', async () => {
    const server = new FakeServer(() => ({}), { on: { ping: refuse(-32601, 'Method not found') } });
    const { clock, events } = await begin(server);
    await clock.advance(300_000);
    expect(server.peer.of('ping').length).toBeGreaterThan(5);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('is lost after two pings without an answer, and reconnected', async () => {
    const server = new FakeServer(() => ({}), { on: { ping: silent } });
    const test = await begin(server);
    await test.clock.advance(39_999);
    expect(test.events.of('connection.lost')).toEqual([]);
    await test.clock.advance(1);
    await test.events.when('connection.lost');
    expect(test.events.of('connection.lost')).toMatchObject([{ failure: { code: 'unresponsive' } }]);
    expect(server.peer.of('ping')).toHaveLength(2);
    expect(server.peer.of('notifications/cancelled')).toHaveLength(2);
    await whenReadyAgain(test, 2);
  });

  it('is kept if it sends anything else after the ping', async () => {
    const server = new FakeServer(() => ({}), { on: { ping: silent } });
    const { clock, events } = await begin(server);
    await clock.advance(32_000);
    server.transport.simulateActivity();
    await clock.advance(6_000);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('is pinged at once if its transport is in doubt, and only once for several doubts', async () => {
    const server = new FakeServer();
    const { clock, events } = await begin(server);
    for (let n = 0; n < 5; n += 1) server.transport.simulateDoubt();
    await clock.advance(100);
    expect(server.peer.of('ping')).toHaveLength(1);
    server.transport.simulateDoubt();
    await clock.advance(100);
    expect(server.peer.of('ping')).toHaveLength(2);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('is not pinged for doubts while a call is in flight, or if the host turned pings off', async () => {
    const busy = new FakeServer(() => ({}), { on: { 'tools/call': silent } });
    const first = await begin(busy);
    first.troupe.callTool('mcp__a__echo', {}, { timeoutMs: 0 }).catch(() => {});
    busy.transport.simulateDoubt();
    await first.clock.advance(1_000);
    expect(busy.peer.of('ping')).toEqual([]);
    const quiet = new FakeServer();
    const second = await begin(quiet, { policy: { ping: { idleMs: 0 } } });
    quiet.transport.simulateDoubt();
    await second.clock.advance(1_000);
    expect(quiet.peer.of('ping')).toEqual([]);
  });

  it('is never counted as lost while a call is in flight', async () => {
    const server = new FakeServer(() => ({}), { on: { ping: silent, 'tools/call': silent } });
    const { troupe, clock, events } = await begin(server);
    troupe.callTool('mcp__a__echo', {}, { timeoutMs: 0 }).catch(() => {});
    await clock.advance(300_000);
    expect(server.peer.of('ping')).toEqual([]);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it.each([1, 3])(
    'is counted as lost even if %i callers repeat calls that are never answered',
    async (callers) => {
      const server = new FakeServer(() => ({}), { on: { ping: silent, 'tools/call': silent } });
      const test = await begin(server);
      const { troupe, clock, events } = test;
      const again = (): void =>
        void troupe.callTool('mcp__a__echo').catch((error: unknown) => {
          if (error instanceof CallTimeoutError) again();
        });
      for (let caller = 0; caller < callers; caller += 1) {
        again();
        await clock.advance(1_000);
      }
      await clock.advance(60_000);
      expect(server.peer.of('ping')).toHaveLength(1);
      expect(events.of('connection.lost')).toEqual([]);
      await clock.advance(12_000);
      expect(events.of('connection.lost')).toMatchObject([{ failure: { code: 'unresponsive' } }]);
      await whenReadyAgain(test, 2);
    },
  );

  it('is not pinged sooner for a call with a short limit', async () => {
    const server = new FakeServer(() => ({}), { on: { 'tools/call': silent } });
    const { troupe, clock } = await begin(server);
    const call = (): Promise<unknown> => troupe.callTool('mcp__a__echo', {}, { timeoutMs: 1_000 });
    for (let second = 0; second < 29; second += 1) {
      call().catch(() => {});
      await clock.advance(1_000);
    }
    expect(server.peer.of('ping')).toEqual([]);
    call().catch(() => {});
    await clock.advance(1_000);
    expect(server.peer.of('ping')).toHaveLength(1);
  });

  it('is not counted as lost for a call that timed out while another one has time left', async () => {
    const server = new FakeServer(() => ({}), { on: { ping: silent, 'tools/call': silent } });
    const { troupe, clock, events } = await begin(server);
    const call = (timeoutMs: number): Promise<unknown> => troupe.callTool('mcp__a__echo', {}, { timeoutMs });
    call(0).catch(() => {});
    await expect(passTime(clock, call(40_000))).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    await clock.advance(300_000);
    expect(server.peer.of('ping')).toEqual([]);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('is not counted as lost if a call starts after the ping was sent', async () => {
    const server = new FakeServer(() => ({}), { on: { ping: silent, 'tools/call': silent } });
    const { troupe, clock, events } = await begin(server);
    await clock.advance(31_000);
    troupe.callTool('mcp__a__echo', {}, { timeoutMs: 0 }).catch(() => {});
    await clock.advance(60_000);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('is not pinged if the policy turns pings off', async () => {
    const server = new FakeServer();
    const { clock } = await begin(server, { policy: { ping: { idleMs: 0 } } });
    await clock.advance(600_000);
    expect(server.peer.of('ping')).toEqual([]);
  });
});

describe('a server that nobody uses', () => {
  useLeakCheck();
  useCrashWatch();
  const { begin } = useOneFake();

  it('is stopped after its idle time, even if it answers pings, and its tools stay listed', async () => {
    const server = new FakeServer();
    const { troupe, clock } = await begin(server, { idleStopMs: 90_000 });
    await clock.advance(90_000);
    expect(server.transport.isOpen).toBe(false);
    expect(troupe.connection('a')?.status).toMatchObject({ state: 'configuring', substate: 'dormant' });
    expect(troupe.tools).toHaveLength(1);
    await clock.advance(600_000);
    expect(server.transports).toHaveLength(1);
  });

  it('is idle only since its last call', async () => {
    const server = new FakeServer();
    const { troupe, clock } = await begin(server, { idleStopMs: 90_000 });
    await clock.advance(80_000);
    await troupe.callTool('mcp__a__echo');
    await clock.advance(89_999);
    expect(troupe.connection('a')?.state).toBe('ready');
    await clock.advance(1);
    expect(troupe.connection('a')?.status.substate).toBe('dormant');
  });
});
