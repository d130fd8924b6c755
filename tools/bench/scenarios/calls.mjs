/** Calls on one connection, one after another and many at once. */
import { KEY, MEMORY_PEERS, PEERS } from '../contenders.mjs';
import { httpServer, memoryServers, stdioServers } from '../servers.mjs';

const TEXT = 'How much does one call cost?';

export const scenario = {
  name: 'calls',
  title: 'Calls',
  about:
    'A call to a tool that returns its argument, on one connection. In memory there is no process and no pipe, so ' +
    "only the client's own work remains. Troupe checks the arguments against the tool's schema, supervises the " +
    'connection and publishes two events for each call to an observer.',
  metrics: {
    callUs: { label: 'time per call', unit: 'µs' },
    callsPerS: { label: 'calls per second', unit: '', ratio: false, isMore: true },
    p50Us: { label: 'median', unit: 'µs', ratio: false },
    p99Us: { label: '99th percentile', unit: 'µs', ratio: false },
    cpuUs: { label: "processor time of the client's process", unit: 'µs' },
  },
  plot: { metric: 'callUs', cases: ['stdio, 1', 'stdio, 64', 'http, 1', 'http, 64'] },
  cases: ({ isQuick }) =>
    ['stdio', 'http', 'memory'].flatMap((kind) =>
      [1, 64].map((atOnce) => ({
        name: `${kind}, ${atOnce}`,
        params: { kind, atOnce, ms: isQuick ? 500 : 1_000, warmUpMs: isQuick ? 400 : 800 },
        clients: [...KEY, ...(kind === 'memory' ? MEMORY_PEERS : PEERS)],
        ...{ runs: 5, peerRuns: kind === 'http' ? 1 : 2, seconds: isQuick ? 1.3 : 2.3 },
      })),
    ),
};

async function place({ kind }, mark) {
  if (kind === 'http') return httpServer(mark);
  const [server] = kind === 'stdio' ? stdioServers(1, mark) : memoryServers(1);
  return { server, end: async () => {} };
}

export async function measure({ client, params, mark }) {
  const { server, end } = await place(params, mark);
  const library = await client.load(params.kind);
  const handle = await client.open(library, [server]);
  const call = handle.caller('s0', 'tool_0');
  const answer = JSON.stringify((await call({ text: TEXT })) ?? null);
  if (!answer.includes(TEXT)) throw new Error(`an answer that is none: ${answer.slice(0, 200)}`);
  await callFor(call, params.warmUpMs, params.atOnce);
  globalThis.gc();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const waits = await callFor(call, params.ms, params.atOnce);
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  await handle.close();
  await end();
  waits.sort();
  const at = (share) => waits[Math.floor(waits.length * share)] * 1_000;
  return {
    ...{ callUs: (ms * 1_000) / waits.length, callsPerS: (waits.length * 1_000) / ms },
    ...{ p50Us: at(0.5), p99Us: at(0.99), cpuUs: (user + system) / waits.length },
  };
}

/** How long each took, milliseconds. */
async function callFor(call, ms, atOnce) {
  const waits = [];
  const end = performance.now() + ms;
  const one = async () => {
    let begun = performance.now();
    while (begun < end) {
      await call({ text: TEXT });
      const now = performance.now();
      waits.push(now - begun);
      begun = now;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return Float64Array.from(waits);
}
