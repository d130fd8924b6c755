/**
 * The cost of recording per log entry: the processor time of the charts with a recorder that discards its output, minus
 * that without a recorder.
 *
 * An entry is an external event of the charts of five connections, with all its effects. Rounds of both kinds alternate,
 * and the first ones do not count, because code that is not yet compiled is several times slower. There is no forced
 * garbage collection, because it discards compiled code.
 */
import { BusyTroupe } from './busy-troupe.mjs';
import { median } from './statistics.mjs';

export const ROUNDS = 25;
const WARM_UP = 5;
const FIRST_ENTRIES = 500;
const NOWHERE = { write() {}, close() {} };

/** Plays `count` entries in a troupe. */
const anything = (troupe, entries) => troupe.run(entries);
export const plain = (troupe, entries) => troupe.runPlain(entries);

/** Microseconds of processor time per entry. */
export async function drive(entries, sink, run = anything) {
  const troupe = new BusyTroupe(sink);
  await troupe.run(FIRST_ENTRIES);
  const before = process.cpuUsage();
  await run(troupe, entries);
  const { user, system } = process.cpuUsage(before);
  await troupe.close();
  return (user + system) / entries;
}

/** @returns {Promise<{ off: number, on: number, cost: number }>} medians; `cost` is the median of the differences of the pairs */
export async function costOfRecording(entries, run = anything) {
  const pairs = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1)
    pairs.push({ off: await drive(entries, undefined, run), on: await drive(entries, NOWHERE, run) });
  const counted = pairs.slice(WARM_UP);
  const of = (figure) => median(counted.map(figure));
  return { off: of(({ off }) => off), on: of(({ on }) => on), cost: of(({ off, on }) => on - off) };
}

/** The number of XState events per entry, of any actor including effects. */
export async function eventsOfActors(entries) {
  const troupe = new BusyTroupe();
  await troupe.run(FIRST_ENTRIES);
  let events = 0;
  troupe.inspect(({ type }) => {
    if (type === '@xstate.event') events += 1;
  });
  await troupe.run(entries);
  await troupe.close();
  return events / entries;
}
