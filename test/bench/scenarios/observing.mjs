/** What it costs to be watched: observers of the events, and a recorder. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median } from '../statistics.mjs';

/** Many short ones, so that whatever else the machine does falls on both kinds alike. */
const ROUNDS = 25;
const OBSERVERS = 10;
const EVENTS_A_TURN = 20;

export const scenario = {
  name: 'observing',
  title: 'Being watched',
  about:
    '*Observers*: processor time of one event from the publisher, in batches of twenty, with ten observers of `events$` and with ' +
    'none. *Recorder*: five connections of which always one does something, by the charts that run, with and without a ' +
    'recorder. Rounds of both kinds take turns in one process; medians, the difference that of each pair.',
  metrics: {
    offUs: { label: 'without', unit: 'µs an event' },
    onUs: { label: 'with', unit: 'µs an event' },
    costUs: { label: 'difference', unit: 'µs an event' },
  },
  cases: ({ isQuick }) => [
    {
      name: '10 observers',
      params: { kind: 'observers', count: isQuick ? 5_000 : 20_000 },
      clients: ['troupe'],
      runs: 2,
      limitMs: 150_000,
    },
    {
      name: 'recorder',
      params: { kind: 'recorder', count: isQuick ? 1_000 : 4_000 },
      clients: ['troupe'],
      runs: 2,
      limitMs: 150_000,
    },
  ],
};

const KINDS = { observers: observed, recorder: recorded };

export async function measure({ params: { kind, count }, dist }) {
  const drive = await KINDS[kind](dist, count);
  const [off, on] = [[], []];
  await drive(true);
  for (let round = 0; round < ROUNDS; round += 1) {
    off.push(await drive(false));
    on.push(await drive(true));
  }
  return { offUs: median(off), onUs: median(on), costUs: median(on.map((cost, round) => cost - off[round])) };
}

/** Microseconds of processor time for each of so many. */
async function spent(count, work) {
  globalThis.gc();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

async function observed(dist, count) {
  const at = (path) => import(pathToFileURL(join(dist, 'src', path)));
  const [{ Publisher }, { systemClock, silentLogger }] = await Promise.all([
    at('lifecycle/publish.js'),
    at('ports.js'),
  ]);
  return async (isWatched) => {
    const publisher = new Publisher(systemClock, silentLogger);
    let heard = 0;
    const watching = Array.from({ length: isWatched ? OBSERVERS : 0 }, () =>
      publisher.events$.subscribe(() => {
        heard += 1;
      }),
    );
    const us = await spent(count, async () => {
      for (let sent = 0; sent < count; sent += EVENTS_A_TURN) {
        for (let one = 0; one < EVENTS_A_TURN; one += 1)
          publisher.publish({
            type: 'call.started',
            connection: 's0',
            generation: 1,
            call: sent,
            tool: 'tool_0',
          });
        await Promise.resolve();
      }
    });
    await new Promise(setImmediate);
    for (const one of watching) one.unsubscribe();
    if (isWatched && heard !== OBSERVERS * count) throw new Error(`${heard} events were heard`);
    return us;
  };
}

async function recorded(_dist, count) {
  const { BusyTroupe } = await import('../busy-troupe.mjs');
  return async (isRecorded) => {
    const troupe = new BusyTroupe(isRecorded ? { write() {}, close() {} } : undefined);
    await troupe.run(500);
    const us = await spent(count, () => troupe.run(count));
    await troupe.close();
    return us;
  };
}
