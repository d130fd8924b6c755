/** Who is in the fleet, on a clock of the test. One memory engine stands for the engine that the hosts share. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { FleetKey } from '../../../src/fleet/fleet-key.js';
import { Hosts, type FleetHost } from '../../../src/fleet/hosts.js';
import { createMemoryEngine } from '../../../src/fleet/memory-engine.js';
import { createFleet } from '../../../src/fleet/stores.js';
import { FLEET_KEY, SAID } from '../../support/fleet-host.js';
import { HandClock } from '../../support/hand-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { losable } from '../../support/losable-engine.js';

const KEY = new FleetKey([FLEET_KEY]);
/** An engine that can be out of reach, and hosts with a clock each, so that one of them can freeze. */
function makeFleet() {
  const memory = createMemoryEngine();
  const link = losable(memory);
  const clocks: HandClock[] = [];
  const host = (address?: string, key = KEY): { readonly hosts: Hosts; readonly clock: HandClock } => {
    const clock = new HandClock();
    clocks.push(clock);
    return { clock, hosts: new Hosts({ engine: link.engine, key, address, clock }) };
  };
  return {
    engine: memory,
    host,
    setAway: (now: boolean) => (link.reach = now ? 'away' : 'up'),
    /** Everybody but the frozen ones, in steps of a second. */
    pass: async (seconds: number, ...frozen: readonly HandClock[]) => {
      for (let second = 0; second < seconds; second += 1)
        for (const clock of clocks) if (!frozen.includes(clock)) await clock.advance(1_000);
    },
  };
}

/** The names that a watcher hears; the last are those of now. */
function watched(hosts: Hosts): string[][] {
  const heard: string[][] = [];
  onTestFinished(hosts.watch((now) => heard.push([...now.keys()])));
  return heard;
}

describe('the hosts of a fleet', () => {
  useLeakCheck();

  it('hear who is there, what it says, and that it has left.', async () => {
    const { host, pass, engine } = makeFleet();
    const [one, two] = [host('http://10.0.0.1:80'), host()];
    const heard: ReadonlyMap<string, FleetHost>[] = [];
    onTestFinished(two.hosts.watch((now) => heard.push(now)));
    await one.hosts.announce(SAID);
    await pass(1);
    expect(heard.at(-1)?.get(one.hosts.self)).toEqual({
      ...SAID,
      id: one.hosts.self,
      address: 'http://10.0.0.1:80',
    });
    expect(one.hosts.self).toMatch(/^[\da-z]+$/);

    const changes = heard.length;
    await pass(20);
    expect(heard).toHaveLength(changes);
    await one.hosts.announce({ ...SAID, state: 'draining' });
    await pass(1);
    expect([...(heard.at(-1)?.values() ?? [])].map(({ state }) => state)).toEqual(['draining']);

    await one.hosts.leave();
    await pass(1);
    expect(heard.at(-1)?.size).toBe(0);
    expect(await engine.get(`host/${one.hosts.self}`)).toBeUndefined();
    expect(one.clock.pending).toBe(0);
  });

  it('know the address of a host, with and without a watch.', async () => {
    const { host, pass } = makeFleet();
    const [one, two, mute] = [host('http://one'), host(), host()];
    await Promise.all([one.hosts.announce(SAID), mute.hosts.announce(SAID)]);
    const addresses = (): Promise<readonly unknown[]> =>
      Promise.all([one.hosts.self, mute.hosts.self, 'nobody'].map((name) => two.hosts.addressOf(name)));
    expect(await addresses()).toEqual(['http://one', undefined, undefined]);
    watched(two.hosts);
    await pass(1);
    expect(await addresses()).toEqual(['http://one', undefined, undefined]);
  });

  it('take a host that says nothing for 15 s as gone, and remove it after 60 s.', async () => {
    const { host, pass, engine } = makeFleet();
    const [one, two] = [host('http://one'), host()];
    await one.hosts.announce(SAID);
    const heard = watched(two.hosts);
    await pass(14, one.clock);
    expect([heard.at(-1), await two.hosts.addressOf(one.hosts.self)]).toEqual([
      [one.hosts.self],
      'http://one',
    ]);
    await pass(2, one.clock);
    expect([heard.at(-1), await two.hosts.addressOf(one.hosts.self)]).toEqual([[], undefined]);
    await pass(40, one.clock);
    expect(await engine.get(`host/${one.hosts.self}`)).toBeDefined();
    await pass(6, one.clock);
    expect(await engine.get(`host/${one.hosts.self}`)).toBeUndefined();

    await pass(6);
    expect(heard.at(-1)).toEqual([one.hosts.self]);
  });

  it('do not take each other as gone if the reader was frozen.', async () => {
    const { host, pass } = makeFleet();
    const [one, two] = [host(), host()];
    await one.hosts.announce(SAID);
    const heard = watched(two.hosts);
    await pass(5);
    await pass(300, two.clock);
    await pass(5);
    expect(heard.flat()).toEqual(heard.map(() => one.hosts.self));
  });

  it('keep what they know while the engine cannot be reached, and go on when it can.', async () => {
    const { host, pass, setAway } = makeFleet();
    const [one, two] = [host('http://one'), host()];
    const heard = watched(two.hosts);
    await one.hosts.announce(SAID);
    await pass(1);
    setAway(true);
    await pass(300);
    expect([heard.at(-1), await two.hosts.addressOf(one.hosts.self)]).toEqual([
      [one.hosts.self],
      'http://one',
    ]);
    await one.hosts.announce({ ...SAID, state: 'draining' });
    setAway(false);
    await pass(8);
    expect(heard.at(-1)).toEqual([one.hosts.self]);
    await one.hosts.leave();
  });

  it('say again who they are if the engine has lost its data, and stay reachable meanwhile.', async () => {
    const { host, pass, engine } = makeFleet();
    const [one, two] = [host('http://one'), host('http://two')];
    const heard = watched(two.hosts);
    await Promise.all([one.hosts.announce(SAID), two.hosts.announce(SAID)]);
    await pass(1);
    for (const { hosts } of [one, two]) await engine.remove(`host/${hosts.self}`);
    await pass(1, one.clock);
    expect([heard.at(-1), await two.hosts.addressOf(one.hosts.self)]).toEqual([
      [two.hosts.self],
      'http://one',
    ]);
    await pass(6);
    expect(heard.at(-1)?.toSorted()).toEqual([one.hosts.self, two.hosts.self].toSorted());
  });

  it('do not see hosts with another key.', async () => {
    const { host, pass } = makeFleet();
    const other = host('http://other', new FleetKey([Buffer.alloc(32, 8).toString('hex')]));
    const two = host();
    const heard = watched(two.hosts);
    await Promise.all([other.hosts.announce(SAID), two.hosts.announce(SAID)]);
    await pass(1);
    expect(heard.at(-1)).toEqual([two.hosts.self]);
  });

  it.each(['ftp://x', 'x', 'http://user:s3cret@x', 'http://x/?s3cret', 'http://x/#s3cret'])(
    'do not take %s as an address.',
    (address) => {
      const make = (): unknown => createFleet({ engine: createMemoryEngine(), key: FLEET_KEY, address });
      expect(make).toThrow(TypeError);
      expect(make).not.toThrow('s3cret');
    },
  );
});
