/** The machine sleeps for hours and wakes up: each connection is asked once whether it lives, and none is restarted for it. */
import { describe, expect, it, vi } from 'vitest';
import { useCrashWatch } from '../support/crash-watch.js';
import { fake, FakeServer } from '../support/fake-server.js';
import { useLeakCheck } from '../support/leak-check.js';
import { silent } from '../support/scripted-server.js';
import { passTime, useTroupes } from '../support/test-troupe.js';

vi.mock(
  '../../src/transports/create-transport.js',
  async () => (await import('../support/fake-server.js')).fakeTransports,
);

const EIGHT_HOURS_MS = 8 * 3_600_000;

const pings = ({ peer }: FakeServer): number =>
  peer.received.filter(({ method }) => method === 'ping').length;

describe('a machine that has slept', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('asks every server once whether it is alive, and restarts none that is', async () => {
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

  it('notices within seconds that a server has not survived it', async () => {
    const server = new FakeServer();
    const test = make({ servers: { a: fake(server) } });
    await passTime(test.clock, test.troupe.start());
    server.peer.script = { on: { ping: silent } };
    test.clock.sleep(EIGHT_HOURS_MS);
    await test.clock.advance(15_000);
    expect(test.events.of('connection.lost')).toMatchObject([{ failure: { code: 'unresponsive' } }]);
  });

  it('takes a host that was merely busy for a few seconds for no sleeper', async () => {
    const server = new FakeServer();
    const test = make({ servers: { a: fake(server) }, policy: { ping: { idleMs: 0 } } });
    await passTime(test.clock, test.troupe.start());
    test.clock.sleep(8_000);
    await test.clock.advance(60_000);
    expect(pings(server)).toBe(0);
    expect(test.events.of('diagnostic')).toEqual([]);
  });
});
