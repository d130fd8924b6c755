/**
 * What recording costs an entry of the log: processor time of the charts with a recorder that writes nowhere, less that
 * without.
 *
 * An entry is something that reaches the charts of five connections from outside, with all that it causes. Rounds of both
 * kinds take turns, and the first ones are not counted, since code that is not compiled yet costs several times as much.
 * Nothing is collected by force: a collection throws compiled code away.
 */
import { BusyTroupe } from './busy-troupe.mjs';
import { median } from './statistics.mjs';

export const ROUNDS = 25;
const WARM_UP = 5;
const FIRST_ENTRIES = 500;
const NOWHERE = { write() {}, close() {} };

/** Has a troupe go through so many entries. */
const anything = (troupe, entries) => troupe.run(entries);
export const plain = (troupe, entries) => troupe.runPlain(entries);

/** Microseconds of processor time for each of so many entries. */
export async function drive(entries, sink, run = anything) {
  const troupe = new BusyTroupe(sink);
  await troupe.run(FIRST_ENTRIES);
  const before = process.cpuUsage();
  await run(troupe, entries);
  const { user, system } = process.cpuUsage(before);
  await troupe.close();
  return (user + system) / entries;
}

/** @returns {Promise<{ off: number, on: number, cost: number }>} medians; `cost` is that of the differences of each pair */
export async function costOfRecording(entries, run = anything) {
  const pairs = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1)
    pairs.push({ off: await drive(entries, undefined, run), on: await drive(entries, NOWHERE, run) });
  const counted = pairs.slice(WARM_UP);
  const of = (figure) => median(counted.map(figure));
  return { off: of(({ off }) => off), on: of(({ on }) => on), cost: of(({ off, on }) => on - off) };
}

/** How many events an entry holds: what XState calls one, of any actor, effects included. */
export async function eventsOfActors(entries) {
  const troupe = new BusyTroupe();
  await troupe.run(FIRST_ENTRIES);
  let told = 0;
  troupe.inspect(({ type }) => {
    if (type === '@xstate.event') told += 1;
  });
  await troupe.run(entries);
  await troupe.close();
  return told / entries;
}
