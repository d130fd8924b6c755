/** The computer sleeps for hours and wakes up: each connection is pinged once, and none is restarted because of it. */
import { describe, expect, it } from 'vitest';
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent } from '../../support/scripted-server.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';

const EIGHT_HOURS_MS = 8 * 3_600_000;

const pings = ({ peer }: FakeServer): number =>
  peer.received.filter(({ method }) => method === 'ping').length;

describe('a computer that has slept', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('pings every server once, and restarts none that answers', async () => {
    const servers = Array.from({ length: 20 }, () => new FakeServer());
    const entries = servers.map((server, index) => [`s${index}`, fake(server)] as const);
    const test = make({ servers: Object.fromEntries(entries), policy: { ping: { idleMs: 0 } } });
    await passTime(test.clock, test.troupe.start());
    test.clock.sleep(EIGHT_HOURS_MS);
    await test.clock.advance(60_000);
    expect(servers.map(pings)).toEqual(servers.map(() => 1));
    expect(test.events.of('connection.lost')).toEqual([]);
    expect(servers.map(({ transports }) => transports.length)).toEqual(servers.map(() => 1));
    const jumps = test.events.of('diagnostic').filter(({ kind }) => kind === 'clock-jump');
    expect(jumps.map(({ message }) => message)).toEqual([expect.stringContaining('28800 s')]);
  });

  it('notices within seconds that a server is gone', async () => {
    const server = new FakeServer();
    const test = make({ servers: { a: fake(server) } });
    await passTime(test.clock, test.troupe.start());
    server.peer.script = { on: { ping: silent } };
    test.clock.sleep(EIGHT_HOURS_MS);
    await test.clock.advance(15_000);
    expect(test.events.of('connection.lost')).toMatchObject([{ failure: { code: 'unresponsive' } }]);
  });

  it('does not count as asleep while the host is only busy for a few seconds', async () => {
    const server = new FakeServer();
    const test = make({ servers: { a: fake(server) }, policy: { ping: { idleMs: 0 } } });
    await passTime(test.clock, test.troupe.start());
    test.clock.sleep(8_000);
    await test.clock.advance(60_000);
    expect(pings(server)).toBe(0);
    expect(test.events.of('diagnostic')).toEqual([]);
  });
});

describe('a computer whose clock is set back', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  /** A troupe with one used server, on a clock that `setBack` sets back by hours. */
  async function start(server: ServerConfig, options: TroupeOptions = {}) {
    const clock = createControlledClock(EIGHT_HOURS_MS);
    let setBackMs = 0;
    const { troupe, events } = make({
      ...options,
      clock: { ...clock, now: () => clock.now() - setBackMs },
      servers: { a: server },
    });
    const call = () => passTime(clock, troupe.callTool('mcp__a__echo', {}));
    await passTime(clock, troupe.start());
    await call();
    return {
      troupe,
      clock,
      events,
      call,
      setBack: () => (setBackMs = EIGHT_HOURS_MS / 2),
      close: () => passTime(clock, troupe.close()),
    };
  }

  it('notices as quickly as usual that a server has died silently', async () => {
    const server = new FakeServer();
    const { clock, events, setBack, close } = await start(fake(server));
    setBack();
    server.peer.script = { on: { ping: silent } };
    await clock.advance(45_000);
    expect(events.of('connection.lost')).toMatchObject([{ failure: { code: 'unresponsive' } }]);
    await close();
  });

  it('does not ping a server that still sends messages', async () => {
    const server = new FakeServer();
    const { clock, call, setBack, close } = await start(fake(server));
    setBack();
    for (let calls = 0; calls < 10; calls += 1) {
      await clock.advance(20_000);
      await call();
    }
    expect(pings(server)).toBe(0);
    await close();
  });

  it('stops a lazy server after its idle time, and none that is used', async () => {
    const server = new FakeServer();
    const lazy = fake(server, { start: 'lazy', policy: { idleStopMs: 60_000 } });
    const { troupe, clock, call, setBack, close } = await start(lazy);
    setBack();
    for (let calls = 0; calls < 5; calls += 1) {
      await clock.advance(40_000);
      await call();
    }
    expect(server.transports).toHaveLength(1);
    await clock.advance(61_000);
    expect(troupe.status).toMatchObject([{ substate: 'dormant' }]);
    await close();
  });

  it('reports no negative duration of a call or of a request within it', async () => {
    const server = new FakeServer();
    let onRequest = (): void => {};
    const roots = () => {
      onRequest();
      return [];
    };
    const { events, call, setBack, close } = await start(fake(server), { handlers: { roots } });
    server.peer.script = { on: { 'tools/call': { ask: { method: 'roots/list' } } } };
    onRequest = setBack;
    await call();
    expect(events.of('server.request')).toMatchObject([{ outcome: 'answered', durationMs: 0 }]);
    expect(events.of('call.finished').map(({ durationMs }) => durationMs)).toEqual([0, 0]);
    await close();
  });
});
