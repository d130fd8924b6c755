/**
 * Three hosts with the lease of one server, over one engine and on one clock: whatever is late, lost, frozen, suspended, set,
 * wiped or killed, never two of them run the server, no token shrinks, and a free lease is taken.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { LeaseFleet } from '../../support/lease-fleet.js';
import type { LeaseHost } from '../../support/lease-host.js';
import { AT_ONCE, type Trip } from '../../support/simulated-engine.js';
import { checkSequences } from './repeatable.js';

useLeakCheck();

const TTL = 10_000;
/**
 * A lease that a late question has got ends after one time, as does a wait for a wiped engine. The next question, the start and
 * the end of a server take the rest.
 */
const FREE_MS = TTL * 2 + 3_000;

const KINDS = [
  'pass',
  'pass',
  'freeze',
  'suspend',
  'go on',
  'set clock',
  'lose engine',
  'find engine',
  'want',
  'unwant',
  'drop',
  'kill',
  'wipe',
] as const;

const step = fc.record({
  what: fc.constantFrom(...KINDS),
  host: fc.nat(2),
  ms: fc.constantFrom(0, 50, 400, 1_000, 3_400, 9_400, 12_000),
});

/** Numbers from 0 to 1 that follow from the seed. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

function tripOf(roll: () => number): Trip {
  const [kind, there, back] = [roll(), roll(), roll()];
  if (kind < 0.7) return { there: there * 20, back: back * 20 };
  if (kind < 0.8) return { there: there * 800, back: back * 800 };
  if (kind < 0.85) return { there: there * 8_000, back: 0 };
  return { ...AT_ONCE, lost: kind < 0.93 ? 'answer' : 'question' };
}

it('never runs twice, and is taken when it is free', async () => {
  const seen = { servers: 0, lost: 0, slowestMs: 0 };
  await checkSequences(
    { numRuns: 12, seed: 11 },
    fc.asyncProperty(
      fc.array(step, { minLength: 8, maxLength: 24 }),
      fc.nat(2 ** 31),
      async (steps, seed) => {
        const roll = dice(seed);
        const fleet = new LeaseFleet(TTL);
        let number = 0;
        const add = (): LeaseHost => {
          const host = fleet.add(`h${(number += 1)}`);
          host.link.trip = () => tripOf(roll);
          host.launchMs = roll() * 300;
          host.killMs = roll() * 300;
          host.want();
          return host;
        };
        for (let count = 0; count < 3; count += 1) add();
        for (const { what, host: place, ms } of steps) {
          const host = fleet.hosts[place]!;
          const { clock, link } = host;
          if (what === 'freeze') clock.freeze();
          else if (what === 'suspend') clock.suspend();
          else if (what === 'go on') clock.goOn((count) => Math.floor(roll() * count));
          else if (what === 'set clock') clock.setWallBy((roll() - 0.5) * 2 * ms);
          else if (what === 'lose engine') link.isUp = false;
          else if (what === 'find engine') link.isUp = true;
          else if (what === 'wipe') await fleet.engine.wipe(TTL);
          else if (what === 'kill') {
            fleet.remove(host);
            add();
          } else if (!clock.isStopped && what !== 'pass') host[what]();
          await fleet.pass(ms);
        }
        for (const { clock, link } of fleet.hosts) {
          clock.goOn((count) => Math.floor(roll() * count));
          link.isUp = true;
          link.trip = () => AT_ONCE;
        }
        for (const host of fleet.hosts) host.want();
        const isSettled = (): boolean =>
          fleet.hosts.every(({ place, lease }) => place !== undefined && lease.isCurrent) &&
          fleet.hosts.filter(({ sends }) => sends).length === 1;
        seen.slowestMs = Math.max(seen.slowestMs, await fleet.until(isSettled, FREE_MS));
        seen.servers += fleet.tokens.length;
        seen.lost += fleet.hosts.flatMap(({ failures }) => failures).length;
        expect(await fleet.close()).toBe(0);
      },
    ),
  );
  // The walks reach what they are for.
  expect(seen.servers).toBeGreaterThan(24);
  expect(seen.lost).toBeGreaterThan(10);
});
