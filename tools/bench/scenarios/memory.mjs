/** The memory of an idle connection. */
import { setTimeout as pause } from 'node:timers/promises';
import { ALONE, KEY, MEMORY_PEERS, PEERS } from '../contenders.mjs';
import { memoryServers, stdioServers } from '../servers.mjs';

export const scenario = {
  name: 'memory',
  title: 'Memory of idle connections',
  about:
    'Heap after garbage collection with all servers connected and listed, minus the heap before, divided by the ' +
    'number of connections. One connection was opened and closed before, so code that is loaded once is not included. ' +
    "The memory of the servers is not included either, except for servers in the client's own process, which share " +
    'their list of tools.',
  metrics: {
    heapKiB: { label: 'heap per connection', unit: 'KiB' },
    rssKiB: { label: 'resident memory per connection', unit: 'KiB', ratio: false },
    totalMiB: { label: 'resident memory in total', unit: 'MiB', ratio: false },
  },
  cases: ({ isQuick }) => [
    {
      name: 'stdio, 50',
      params: { kind: 'stdio', count: 50 },
      clients: [...KEY, ...PEERS],
      ...{ runs: 2, peerRuns: 1, seconds: 3.5 },
    },
    {
      name: 'in memory, 1,000',
      params: { kind: 'memory', count: isQuick ? 500 : 1_000 },
      clients: [...KEY, ALONE, ...MEMORY_PEERS],
      ...{ runs: 2, peerRuns: 1, seconds: 2.5 },
    },
  ],
};

export async function measure({ client, params: { kind, count }, mark }) {
  const library = await client.load(kind);
  const make = (many) => (kind === 'stdio' ? stdioServers(many, mark) : memoryServers(many));
  await (await client.open(library, make(1))).close();
  const servers = make(count);
  const before = await settledMemory();
  const handle = await client.open(library, servers);
  const after = await settledMemory();
  if (handle.tools !== 10 * count) throw new Error(`${handle.tools} tools of ${10 * count}`);
  await handle.close();
  return {
    heapKiB: (after.heapUsed - before.heapUsed) / 1_024 / count,
    rssKiB: (after.rss - before.rss) / 1_024 / count,
    totalMiB: after.rss / 2 ** 20,
  };
}

async function settledMemory() {
  for (let times = 0; times < 4; times += 1) {
    await pause(150);
    globalThis.gc();
  }
  return process.memoryUsage();
}
