/**
 * What recording costs an event: processor time of the charts with a recorder that writes nowhere, less that without.
 *
 * An event is one entry of the log: something that reaches the charts of five connections from outside, with all that it
 * causes. Rounds of both kinds take turns, and the first ones are not counted, since code that is not compiled yet costs
 * several times as much. Nothing is collected by force: a collection throws compiled code away.
 */
import { BusyTroupe } from './busy-troupe.mjs';
import { median } from './statistics.mjs';

export const ROUNDS = 25;
const WARM_UP = 5;
const FIRST_EVENTS = 500;
const NOWHERE = { write() {}, close() {} };

/** Has a troupe go through so many events. */
const anything = (troupe, events) => troupe.run(events);
export const plain = (troupe, events) => troupe.runPlain(events);

/** Microseconds of processor time for each of so many events. */
export async function drive(events, sink, run = anything) {
  const troupe = new BusyTroupe(sink);
  await troupe.run(FIRST_EVENTS);
  const before = process.cpuUsage();
  await run(troupe, events);
  const { user, system } = process.cpuUsage(before);
  await troupe.close();
  return (user + system) / events;
}

/** @returns {Promise<{ off: number, on: number, cost: number }>} medians; `cost` is that of the differences of each pair */
export async function costOfRecording(events, run = anything) {
  const pairs = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1)
    pairs.push({ off: await drive(events, undefined, run), on: await drive(events, NOWHERE, run) });
  const counted = pairs.slice(WARM_UP);
  const of = (figure) => median(counted.map(figure));
  return { off: of(({ off }) => off), on: of(({ on }) => on), cost: of(({ off, on }) => on - off) };
}

/** How many events any actor is told for each of so many, effects included: a log holds the rest with what caused it. */
export async function eventsOfActors(events) {
  const troupe = new BusyTroupe();
  await troupe.run(FIRST_EVENTS);
  let told = 0;
  troupe.inspect(({ type }) => {
    if (type === '@xstate.event') told += 1;
  });
  await troupe.run(events);
  await troupe.close();
  return told / events;
}
