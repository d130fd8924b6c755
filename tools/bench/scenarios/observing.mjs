/** The cost of observers of the events, of a recorder, and of telemetry that nobody reads. */
import { fromDist, published } from '../from-dist.mjs';
import { median } from '../statistics.mjs';

/** Many short rounds, so that other work of the machine affects both kinds equally. */
const ROUNDS = 25;
const WARM_UP = 3;
const OBSERVERS = 10;
const EVENTS_A_TURN = 20;

export const scenario = {
  name: 'observing',
  title: 'Being watched',
  about:
    '*Observers*: processor time of one event from the publisher, in batches of twenty, with ten observers of ' +
    '`events$` and with none. *Recorder*: processor time of one entry at the charts of five busy connections, with ' +
    'and without a recorder without a target. An entry of the log is an external event with all its consequences; ' +
    'an event is an XState event of any actor. Rounds of both kinds take turns in one process, and the first rounds ' +
    'do not count. *Telemetry*: processor time of one call in memory, with and without `telemetry: openTelemetry()`, in a process ' +
    'without an OpenTelemetry SDK. The figures are medians, and the difference is the median of the differences of each pair.',
  metrics: {
    offUs: { label: 'without', unit: 'µs' },
    onUs: { label: 'with', unit: 'µs' },
    costUs: { label: 'difference', unit: 'µs' },
    eventUs: { label: 'difference, an event of any actor', unit: 'µs' },
  },
  cases: ({ isQuick }) => [
    {
      name: '10 observers',
      params: { kind: 'observers', count: isQuick ? 5_000 : 20_000 },
      clients: ['troupe'],
      ...{ runs: 2, seconds: 1.5, limitMs: 150_000 },
    },
    {
      name: 'recorder',
      params: { kind: 'recorder', count: isQuick ? 1_000 : 4_000 },
      clients: ['troupe'],
      ...{ runs: 2, seconds: isQuick ? 5 : 14, limitMs: 150_000 },
    },
    {
      name: 'telemetry without an SDK',
      params: { kind: 'telemetry', count: isQuick ? 1_000 : 4_000 },
      clients: ['troupe'],
      ...{ runs: 2, seconds: isQuick ? 3 : 10, limitMs: 150_000 },
    },
  ],
};

export async function measure({ params: { kind, count } }) {
  if (kind === 'recorder') return recorded(count);
  return compared(await (kind === 'telemetry' ? calling : publishing)(count));
}

/** `drive` takes a round with or without what is measured, and returns microseconds per item. */
async function compared(drive) {
  const [off, on] = [[], []];
  for (let round = 0; round < WARM_UP; round += 1) await drive(true);
  for (let round = 0; round < ROUNDS; round += 1) {
    off.push(await drive(false));
    on.push(await drive(true));
  }
  return { offUs: median(off), onUs: median(on), costUs: median(on.map((cost, round) => cost - off[round])) };
}

async function recorded(count) {
  const { costOfRecording, eventsOfActors } = await import('../recording-cost.mjs');
  const { off, on, cost } = await costOfRecording(count);
  return { offUs: off, onUs: on, costUs: cost, eventUs: cost / (await eventsOfActors(count)) };
}

/** Microseconds of processor time per item. */
async function spent(count, work) {
  globalThis.gc();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

async function publishing(count) {
  const [{ Publisher }, { systemClock, silentLogger }] = await Promise.all([
    fromDist('src/lifecycle/publish.js'),
    fromDist('src/ports.js'),
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
            server: 's0',
            generation: 1,
            call: sent,
            tool: 'tool_0',
          });
        await Promise.resolve();
      }
    });
    await new Promise(setImmediate);
    for (const one of watching) one.unsubscribe();
    if (isWatched && heard !== OBSERVERS * count) throw new Error(`${heard} events were received`);
    return us;
  };
}

async function calling(count) {
  const [{ createTroupe }, { openTelemetry }, { ScriptedServer }] = await Promise.all([
    import(published('src/index.js')),
    import(published('src/adapters/opentelemetry.js')),
    fromDist('src/testing/scripted-server.js'),
  ]);
  return async (isReported) => {
    const server = new ScriptedServer();
    const troupe = createTroupe({
      servers: { box: { type: 'in-process', server } },
      cache: false,
      ...(isReported && { telemetry: openTelemetry() }),
    });
    await troupe.start();
    for (let call = 0; call < count / 4; call += 1) await troupe.callTool('mcp__box__echo', {});
    const us = await spent(count, async () => {
      for (let call = 0; call < count; call += 1) await troupe.callTool('mcp__box__echo', {});
    });
    await troupe.close();
    return us;
  };
}
