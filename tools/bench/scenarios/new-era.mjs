/** The new era of the protocol, with a server that answers in memory. */
import { setTimeout as pause } from 'node:timers/promises';
import { ALONE } from '../contenders.mjs';
import { newEraServers } from '../servers.mjs';

const CALLS = 20_000;

export const scenario = {
  name: 'new-era',
  title: 'The new era of the protocol',
  about:
    'Connections, calls and idle connections with MCP 2026-07-28, beside the second version of the SDK. The server answers ' +
    "in memory, so that only the client's own work remains; all figures but the heap are processor time. The protocol " +
    'client alone does what the SDK does; the difference to Troupe is supervision: charts, checks, reviews, events.',
  metrics: {
    connectUs: { label: 'connect and list', unit: 'µs' },
    callUs: { label: 'call', unit: 'µs' },
    heapKiB: { label: 'heap per connection', unit: 'KiB' },
  },
  cases: ({ isQuick }) => [
    {
      name: 'in memory, 1,000',
      params: { kind: 'memory', count: isQuick ? 500 : 1_000 },
      clients: ['troupe', ALONE, 'client-v2'],
      ...{ runs: 3, peerRuns: 3, seconds: 4 },
    },
  ],
};

export async function measure({ client, params: { kind, count } }) {
  const library = await client.load(kind);
  const one = await client.open(library, newEraServers(1));
  const call = one.caller('s0', 'tool_0');
  const calling = async () => {
    for (let calls = 0; calls < CALLS; calls += 1) await call({ text: 'x' });
  };
  await calling();
  const callUs = (await processorTime(calling)) / CALLS;
  await one.close();
  await (await client.open(library, newEraServers(count))).close();
  const servers = newEraServers(count);
  const before = await settledHeap();
  let handle;
  const connectUs = (await processorTime(async () => (handle = await client.open(library, servers)))) / count;
  const heapKiB = ((await settledHeap()) - before) / 1_024 / count;
  await handle.close();
  return { connectUs, callUs, heapKiB };
}

/** Microseconds. */
async function processorTime(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function settledHeap() {
  for (let times = 0; times < 4; times += 1) {
    await pause(150);
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}
