/** Entries of moved sessions whose hosts were killed, on a clock of the test. */
import { describe, expect, it } from 'vitest';
import { FleetKey } from '../../../../src/fleet/fleet-key.js';
import { createMemoryEngine } from '../../../../src/fleet/memory-engine.js';
import { SealedEntries } from '../../../../src/fleet/sealed-entries.js';
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
  const hosts = new Set(['self', ...present]);
  await new SealedEntries(memory, key).write('moved/a', takers);
  const moves = new EndedMoves({
    engine: link.engine,
    key,
    clock,
    hosts: () => new Map([...hosts].map((host) => [host, {}])),
  });
  const isThere = async (): Promise<boolean> => (await memory.get('moved/a')) !== undefined;
  return { memory, link, clock, hosts, moves, isThere };
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
    const { clock, hosts, isThere, moves } = await rig(['b', 'c'], 'c');
    await clock.advance(MINUTE * 5);
    hosts.delete('c');
    await clock.advance(MINUTE - TICK);
    hosts.add('b');
    await clock.advance(TICK);
    hosts.delete('b');
    await clock.advance(MINUTE - TICK);
    expect(await isThere()).toBe(true);
    await clock.advance(TICK);
    expect(await isThere()).toBe(false);
    moves.close();
  });

  it('stays while the engine is away, and while no host is known', async () => {
    const { clock, link, hosts, isThere, moves } = await rig(['b']);
    link.reach = 'away';
    await clock.advance(MINUTE * 2);
    link.reach = 'up';
    hosts.clear();
    await clock.advance(MINUTE * 2);
    expect(await isThere()).toBe(true);
    hosts.add('self');
    await clock.advance(MINUTE);
    expect(await isThere()).toBe(false);
    moves.close();
  });

  it('stays if it was written anew, or sealed with another key', async () => {
    const { clock, memory, hosts, isThere, moves } = await rig(['b']);
    await clock.advance(MINUTE - TICK);
    hosts.add('d');
    await new SealedEntries(memory, key).write('moved/a', ['d']);
    await clock.advance(MINUTE);
    expect(await isThere()).toBe(true);
    const other = new FleetKey([Buffer.alloc(32, 9).toString('hex')]);
    await new SealedEntries(memory, other).write('moved/a', ['nobody']);
    await clock.advance(MINUTE * 2);
    expect(await isThere()).toBe(true);
    moves.close();
    expect(clock.pending).toBe(0);
  });
});
