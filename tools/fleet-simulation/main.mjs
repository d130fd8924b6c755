/**
 * Simulates a fleet of many hosts in one process, and counts what it asks of its engine: the real hosts, with the charts of
 * all their connections, over servers in memory and the engine in memory, in virtual time.
 *
 * `node tools/fleet-simulation/main.mjs --help`
 */
import { parseArgs } from 'node:util';
import { memoryServers } from '../bench/servers.mjs';
import { loadSources } from '../load-sources.mjs';
import { countedEngine } from './counted-engine.mjs';
import { turns, VirtualClock } from './virtual-clock.mjs';

const USAGE = `Usage: node --max-old-space-size=12000 tools/fleet-simulation/main.mjs [options]

Starts fleets of a quarter, half and all of the hosts, and counts the operations of the engine for each host and minute.
Exits with 1 if the load for each host grows by more than a fifth from the smallest fleet to the largest.

  --hosts N         hosts of the largest fleet (default 1000)
  --connections N   connections of each host (default 100)
  --gateways N      hosts that watch all others, as gateways do (default 10)
  --minutes N       virtual minutes of each phase (default 2)
  -h, --help        this text`;

const KEY = 'ab'.repeat(32);
const MINUTE_MS = 60_000;
const MOST_GROWTH = 1.2;
/** Longest real time for a group of hosts to start or to stop. */
const PATIENCE_MS = 120_000;
/** Hosts that start at the same time. */
const TOGETHER = 25;
/** Processor time of Redis for each operation, µs; measured with Redis 7.0.15. */
const COST_US = {
  get: 5,
  put: 18,
  remove: 18,
  publish: 4,
  'message heard': 4,
  'change heard': 4,
  renew: 11,
  acquire: 11,
  take: 15,
};

function readOptions() {
  const { values } = parseArgs({
    options: {
      hosts: { type: 'string', default: '1000' },
      connections: { type: 'string', default: '100' },
      gateways: { type: 'string', default: '10' },
      minutes: { type: 'string', default: '2' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const numberOf = (name) => {
    const number = Number(values[name]);
    if (!Number.isSafeInteger(number) || number < 1)
      throw new Error(`--${name} must be a whole number, 1 or more.`);
    return number;
  };
  const numbers = Object.fromEntries(
    ['hosts', 'connections', 'gateways', 'minutes'].map((name) => [name, numberOf(name)]),
  );
  if (numbers.hosts < 4)
    throw new Error('--hosts must be 4 or more: the smallest fleet has a quarter of them.');
  return numbers;
}

async function main() {
  const options = readOptions();
  if (options === undefined) return console.log(USAGE);
  const sources = await loadSources();
  try {
    const library = await loadLibrary(sources);
    const fleets = [];
    for (const share of [0.25, 0.5, 1]) {
      const hosts = Math.round(options.hosts * share);
      fleets.push({ hosts, ...(await simulate(library, { ...options, hosts })) });
    }
    show(fleets, options);
    const grown = growth(fleets);
    for (const { phase, ratio } of grown) console.log(`${phase}: ${ratio.toFixed(2)} × for each host`);
    if (grown.some(({ ratio }) => ratio > MOST_GROWTH)) process.exitCode = 1;
  } finally {
    await sources.close();
  }
}

async function loadLibrary(sources) {
  const { createTroupe } = await sources.load('/src/runtime/troupe.ts');
  const { createFleet } = await sources.load('/src/fleet/stores.ts');
  const { createMemoryEngine } = await sources.load('/src/fleet/memory-engine.ts');
  const { Hosts } = await sources.load('/src/fleet/hosts.ts');
  const { SummaryReader } = await sources.load('/src/fleet/summaries.ts');
  const { loadAll } = await sources.load('/src/testing/jumping-clock.ts');
  await sources.load('/src/fleet/presence.ts');
  await loadAll();
  return { createTroupe, createFleet, createMemoryEngine, Hosts, SummaryReader };
}

async function simulate(library, { hosts, connections, gateways, minutes }) {
  const clock = new VirtualClock();
  const begun = clock.now();
  // The engine in memory measures its leases by it.
  const { now } = performance;
  performance.now = () => clock.now() - begun;
  const counted = countedEngine(library.createMemoryEngine());
  const members = Array.from({ length: hosts }, () =>
    makeHost(library, { clock, engine: counted.engine, connections }),
  );
  const phases = {};
  try {
    const startedAt = process.cpuUsage();
    for (let from = 0; from < hosts; from += TOGETHER) {
      await settle(members.slice(from, from + TOGETHER).map(({ troupe }) => troupe.start()));
      progress(`${hosts} hosts: ${Math.min(hosts, from + TOGETHER)} started`);
    }
    const startCpuS = secondsOf(process.cpuUsage(startedAt));
    const ready = members.reduce(
      (sum, { troupe }) => sum + troupe.status.filter(({ state }) => state === 'ready').length,
      0,
    );
    if (ready !== hosts * connections)
      throw new Error(`Only ${ready} of ${hosts * connections} connections are ready.`);
    phases.start = counted.take();

    const stops = members.slice(0, gateways).map(({ fleet }) => fleet.hosts.watch(() => {}));
    await clock.advance(MINUTE_MS);
    counted.take();
    const run = async (name) => {
      for (let minute = 0; minute < minutes; minute += 1) {
        await clock.advance(MINUTE_MS);
        progress(`${hosts} hosts: ${name}, minute ${minute + 1} of ${minutes}`);
      }
      phases[name] = perMinute(counted.take(), minutes);
    };
    await run('idle');

    const seen = new Map();
    const [{ fleet }] = members;
    const reader = new library.SummaryReader({
      ...{ engine: fleet.engine, key: fleet.key, clock },
      onSummary: (host, rows) => seen.set(host, rows.length),
    });
    await clock.advance(MINUTE_MS);
    counted.take();
    await run('a page is open');
    const rows = [...seen.values()].reduce((sum, count) => sum + count, 0);
    if (rows !== hosts * connections)
      throw new Error(`The page sees ${rows} of ${hosts * connections} connections.`);
    await settle([reader.close()]);

    for (const stop of stops) stop();
    return { phases, startCpuS, heapMiB: process.memoryUsage().heapUsed / 2 ** 20 };
  } finally {
    for (let from = 0; from < hosts; from += TOGETHER)
      await settle(members.slice(from, from + TOGETHER).map(({ troupe }) => troupe.close()));
    performance.now = now;
    progress('');
  }
}

function makeHost({ createTroupe, createFleet, Hosts }, { clock, engine, connections }) {
  const made = createFleet({ engine, key: KEY });
  const fleet = { ...made, hosts: new Hosts({ engine, key: made.key, clock }) };
  const servers = Object.fromEntries(memoryServers(connections, 1).map(({ name, server }) => [name, server]));
  return { fleet, troupe: createTroupe({ servers, clock, fleet, seed: 1 }) };
}

/** Nothing of it needs time to pass, except the modules that load meanwhile, which need real time. */
async function settle(promises) {
  const state = { isOver: false };
  const all = Promise.all(promises).finally(() => {
    state.isOver = true;
  });
  const end = Date.now() + PATIENCE_MS;
  while (!state.isOver && Date.now() < end) await turns(20);
  if (!state.isOver) throw new Error('The hosts have neither started nor stopped in time.');
  return all;
}

function perMinute(counts, minutes) {
  return Object.fromEntries(
    Object.entries(counts).map(([kind, { count, bytes }]) => [
      kind,
      { count: count / minutes, bytes: bytes / minutes },
    ]),
  );
}

/** Operations of a minute for each host, without what the engine sends to each listener. */
function asked(counts, hosts) {
  return Object.entries(counts)
    .filter(([kind]) => !kind.endsWith(' heard'))
    .reduce((sum, [, { count }]) => sum + count / hosts, 0);
}

function growth(fleets) {
  const [smallest, largest] = [fleets[0], fleets.at(-1)];
  return Object.keys(smallest.phases).map((phase) => ({
    phase,
    ratio: asked(largest.phases[phase], largest.hosts) / asked(smallest.phases[phase], smallest.hosts),
  }));
}

function show(fleets, { connections, gateways, minutes }) {
  console.log(
    `Each host has ${connections} connections; ${gateways} gateways watch all hosts; phases of ${minutes} virtual minutes.\n`,
  );
  console.log(
    '| hosts | connections | phase | operations a host and minute | operations a second | sent to listeners a second | KiB a second | of a core of Redis |',
  );
  console.log('| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |');
  for (const { hosts, phases } of fleets)
    for (const [phase, counts] of Object.entries(phases)) {
      const isStart = phase === 'start';
      const sum = (pick) =>
        Object.entries(counts).reduce((total, [kind, each]) => total + pick(kind, each), 0);
      const heard = sum((kind, { count }) => (kind.endsWith(' heard') ? count : 0));
      const cells = [
        hosts.toLocaleString('en'),
        (hosts * connections).toLocaleString('en'),
        phase,
        asked(counts, hosts).toFixed(1),
        isStart ? '' : ((asked(counts, hosts) * hosts) / 60).toFixed(1),
        isStart ? '' : (heard / 60).toFixed(1),
        isStart ? '' : (sum((_, { bytes }) => bytes) / 60 / 1_024).toFixed(1),
        isStart
          ? ''
          : `${((sum((kind, { count }) => count * (COST_US[kind] ?? 0)) / 60 / 1e6) * 100).toFixed(2)} %`,
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  for (const { hosts, startCpuS, heapMiB } of fleets)
    console.log(
      `\n${hosts} hosts: ${startCpuS.toFixed(0)} s of processor time to start, ${heapMiB.toFixed(0)} MiB of heap.`,
    );
  console.log();
}

function secondsOf({ user, system }) {
  return (user + system) / 1e6;
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.padEnd(60)}`);
}

await main();
