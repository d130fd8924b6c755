/** The limits of one process: connections, programs, tools, events and the log. The figures of docs/explanation/scale.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { processesWith } from '../processes.mjs';
import { memoryServers, stdioServers } from '../servers.mjs';

const CALLS = 3_000;
const SECONDS_A_DAY = 86_400;
/** Independent of `--runs`, because these figures are not compared. */
const ONCE = { runs: 1, runsOf: { troupe: 1 } };

export const scenario = {
  name: 'scale',
  title: 'Scale',
  about:
    'One process of Troupe with growing load. [The scale plan](explanation/scale.md) explains the figures.',
  metrics: {
    startMs: { label: 'all ready', unit: 'ms' },
    closeMs: { label: 'close', unit: 'ms' },
    heapMiB: { label: 'heap', unit: 'MiB' },
    rssMiB: { label: 'resident', unit: 'MiB' },
    serversMiB: { label: 'resident, the servers', unit: 'MiB' },
    idleCores: { label: 'idle processor time', unit: '% of a core' },
    callUs: { label: 'processor time a call', unit: 'µs' },
    callsPerS: { label: 'calls per second, 64 at once', unit: '' },
    eventsPerS: { label: 'events per second', unit: '' },
    refreshMs: { label: 'one list changes: known after', unit: 'ms' },
    startBytes: { label: 'log, a start', unit: 'bytes' },
    plainCallBytes: { label: 'log, a call', unit: 'bytes' },
    callBytes: { label: 'log, a call with --record-wire', unit: 'bytes' },
    logMB: { label: 'at 10 calls per second', unit: 'MB a day' },
    wireLogMB: { label: 'at 10 calls per second with --record-wire', unit: 'MB a day' },
  },
  cases: ({ isQuick }) => [
    ...sizes(
      'connections',
      isQuick ? [100, 500] : [100, 500, 1_000, 2_000, 5_000],
      'connections in memory',
      6,
    ),
    ...sizes('programs', isQuick ? [10] : [10, 50, 100, 200], 'programs', 8),
    ...sizes('tools', isQuick ? [1_000] : [100, 1_000, 10_000, 50_000], 'tools of 10 servers', 3),
    { name: 'event log', params: { kind: 'log', size: 20 }, clients: ['troupe'], ...ONCE, seconds: 4 },
  ],
};

function sizes(kind, list, label, seconds) {
  return list.map((size) => ({
    name: `${size.toLocaleString('en')} ${label}`,
    params: { kind, size },
    clients: ['troupe'],
    ...{ ...ONCE, seconds, limitMs: 120_000 },
  }));
}

const KINDS = { connections, programs, tools, log };

export async function measure({ client, params: { kind, size }, mark }) {
  return KINDS[kind]({
    client,
    size,
    mark,
    library: await client.load(kind === 'programs' ? 'stdio' : 'memory'),
  });
}

async function grown({ client, library }, servers, options) {
  await (await client.open(library, servers.slice(0, 1))).close();
  const before = await settledMemory();
  const begun = performance.now();
  const handle = await client.open(library, servers, { options });
  const startMs = performance.now() - begun;
  if (handle.failed > 0) throw new Error(`${handle.failed} of ${servers.length} failed`);
  const after = await settledMemory();
  const heapMiB = (after.heapUsed - before.heapUsed) / 2 ** 20;
  return { handle, figures: { startMs, heapMiB, rssMiB: after.rss / 2 ** 20 } };
}

async function connections(job) {
  const { handle, figures } = await grown(job, memoryServers(job.size));
  const calling = await callAround(handle, job.size);
  const begun = performance.now();
  await handle.close();
  return { ...figures, ...calling, closeMs: performance.now() - begun };
}

async function programs(job) {
  const { handle, figures } = await grown(job, stdioServers(job.size, job.mark));
  const serversMiB = processesWith(job.mark).reduce((sum, pid) => sum + proportionalMiB(pid), 0);
  const idle = process.cpuUsage();
  const resting = performance.now();
  await pause(3_000);
  const { user, system } = process.cpuUsage(idle);
  const idleCores = (user + system) / 10 / (performance.now() - resting);
  const calling = await callAround(handle, job.size);
  const begun = performance.now();
  await handle.close();
  return { ...figures, serversMiB, idleCores, ...calling, closeMs: performance.now() - begun };
}

async function tools(job) {
  const servers = memoryServers(10, job.size / 10);
  const { handle, figures } = await grown(job, servers);
  const calling = await callAround(handle, 10);
  const { troupe } = handle;
  const begun = performance.now();
  await troupe.connection('s0').refresh();
  const refreshMs = performance.now() - begun;
  await handle.close();
  return { ...figures, ...calling, refreshMs };
}

/** The growth of a recording. */
async function log(job) {
  const plain = await logged(job, false);
  const { callBytes } = await logged(job, true);
  const dailyMB = (bytes) => (bytes * 10 * SECONDS_A_DAY) / 1e6;
  return {
    ...{ startBytes: plain.startBytes, plainCallBytes: plain.callBytes, callBytes },
    ...{ logMB: dailyMB(plain.callBytes), wireLogMB: dailyMB(callBytes) },
  };
}

async function logged({ client, size, library }, wire) {
  let bytes = 0;
  const sink = { write: (text) => void (bytes += Buffer.byteLength(text)), close: () => {} };
  const options = { record: { target: sink, wire } };
  const handle = await client.open(library, memoryServers(size), { options });
  await pause(500);
  const started = bytes;
  const call = handle.caller('s0', 'tool_0');
  for (let done = 0; done < CALLS; done += 1) await call({ text: 'How much does one call cost?' });
  await pause(500);
  const callBytes = (bytes - started) / CALLS;
  await handle.close();
  return { startBytes: started / size, callBytes };
}

/** Calls over all connections in turn, first to warm up, then counted. */
async function callAround(handle, count) {
  let events = 0;
  const watching = handle.troupe.events$.subscribe(() => {
    events += 1;
  });
  const callers = Array.from({ length: Math.min(count, 200) }, (_, index) =>
    handle.caller(`s${index}`, 'tool_0'),
  );
  let next = 0;
  const one = async (many) => {
    for (let done = 0; done < many; done += 1) await callers[(next += 1) % callers.length]({ text: 'x' });
  };
  const all = () => Promise.all(Array.from({ length: 64 }, () => one(Math.ceil(CALLS / 64))));
  await all();
  events = 0;
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await all();
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  watching.unsubscribe();
  const calls = 64 * Math.ceil(CALLS / 64);
  return { callUs: (user + system) / calls, callsPerS: calls / seconds, eventsPerS: events / seconds };
}

/** Proportional set size in MiB: shared memory counts by its share. */
function proportionalMiB(pid) {
  try {
    if (!readdirSync(`/proc/${pid}`).includes('smaps_rollup')) return 0;
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]) / 1_024;
  } catch {
    return 0;
  }
}

async function settledMemory() {
  for (let times = 0; times < 3; times += 1) {
    await pause(100);
    globalThis.gc();
  }
  return process.memoryUsage();
}
