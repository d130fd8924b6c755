/** Entries of moved sessions whose hosts were killed, on a clock of the test. */
import { describe, expect, it } from 'vitest';
import { FleetKey } from '../../../../src/fleet/fleet-key.js';
import type { FleetHost } from '../../../../src/fleet/hosts.js';
import { createMemoryEngine } from '../../../../src/fleet/memory-engine.js';
import { SealedEntries } from '../../../../src/fleet/sealed-entries.js';
import { MovedSessions } from '../../../../src/gateway/http/moved-sessions.js';
import { EndedMoves } from '../../../../src/gateway/http/ended-moves.js';
import { FLEET_KEY } from '../../../support/fleet-host.js';
import { HandClock } from '../../../support/hand-clock.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { losable } from '../../../support/losable-engine.js';

useLeakCheck();

const key = new FleetKey([FLEET_KEY]);
const MINUTE = 60_000;
const TICK = 5_000;

async function rig(takers: unknown, ...present: readonly string[]) {
  const memory = createMemoryEngine();
  const link = losable(memory);
  const clock = new HandClock();
  const hosts = new Map<string, Pick<FleetHost, 'state'>>(
    ['self', ...present].map((host) => [host, { state: 'up' }]),
  );
  const sessions = new Set<string>();
  const entries = new SealedEntries(memory, key);
  await entries.write('moved/a', takers);
  const moves = new EndedMoves({
    engine: link.engine,
    key,
    clock,
    self: 'self',
    hosts: () => hosts,
    hasSessionsOf: (host) => sessions.has(host),
    forget: (host) => new MovedSessions(entries, 'self').forget(host),
  });
  const isThere = async (): Promise<boolean> => (await memory.get('moved/a')) !== undefined;
  const join = (host: string, state: FleetHost['state'] = 'up') => hosts.set(host, { state });
  return { memory, link, clock, hosts, join, sessions, entries, moves, isThere };
}

describe('the entry of moved sessions', () => {
  it.each([[['b', 'c']], [['', 'b']], [['', '']], [[]]])(
    'is removed a minute after the last of its hosts: %j',
    async (takers) => {
      const { clock, isThere, moves } = await rig(takers);
      await clock.advance(MINUTE - TICK);
      expect(await isThere()).toBe(true);
      await clock.advance(TICK);
      expect(await isThere()).toBe(false);
      // Nothing is left to wait for.
      await clock.advance(TICK);
      expect(clock.pending).toBe(0);
      moves.close();
    },
  );

  it('stays while one of its hosts is there, and while one comes back in time', async () => {
    const { clock, hosts, join, isThere, moves } = await rig(['b', 'c'], 'c');
    await clock.advance(MINUTE * 5);
    hosts.delete('c');
    await clock.advance(MINUTE - TICK);
    join('b');
    await clock.advance(TICK);
    hosts.delete('b');
    await clock.advance(MINUTE - TICK);
    expect(await isThere()).toBe(true);
    await clock.advance(TICK);
    expect(await isThere()).toBe(false);
    moves.close();
  });

  it('stays while the engine is away, and while no host is known', async () => {
    const { clock, link, hosts, join, isThere, moves } = await rig(['b']);
    link.reach = 'away';
    await clock.advance(MINUTE * 2);
    link.reach = 'up';
    hosts.clear();
    await clock.advance(MINUTE * 2);
    expect(await isThere()).toBe(true);
    join('self');
    await clock.advance(MINUTE);
    expect(await isThere()).toBe(false);
    moves.close();
  });

  it('stays if it was written anew, or sealed with another key', async () => {
    const { clock, memory, join, entries, isThere, moves } = await rig(['b']);
    await clock.advance(MINUTE - TICK);
    join('d');
    await entries.write('moved/a', ['d']);
    await clock.advance(MINUTE);
    expect(await isThere()).toBe(true);
    const other = new FleetKey([Buffer.alloc(32, 9).toString('hex')]);
    await new SealedEntries(memory, other).write('moved/a', ['nobody']);
    await clock.advance(MINUTE * 2);
    expect(await isThere()).toBe(true);
    moves.close();
    expect(clock.pending).toBe(0);
  });

  it('loses a host that has had no session for a minute, and then ends', async () => {
    const { clock, join, hosts, sessions, entries, isThere, moves } = await rig(['self', 'b'], 'b', 'a');
    join('a', 'draining');
    await clock.advance(MINUTE * 2);
    expect((await entries.read('moved/a')).value).toEqual(['self', 'b']);
    hosts.delete('a');
    sessions.add('a');
    await clock.advance(MINUTE * 2);
    sessions.delete('a');
    await clock.advance(MINUTE - TICK);
    expect((await entries.read('moved/a')).value).toEqual(['self', 'b']);
    await clock.advance(TICK);
    expect((await entries.read('moved/a')).value).toEqual(['', 'b']);
    hosts.delete('b');
    await clock.advance(MINUTE);
    expect(await isThere()).toBe(false);
    moves.close();
  });
});
