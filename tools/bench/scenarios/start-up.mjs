/** From the start of the process to the tools: importing the library, starting servers, listing their tools. */
import { KEY, PEERS } from '../contenders.mjs';
import { stdioServers } from '../servers.mjs';

/** The name of a case; the targets look figures up by it. */
export function caseName(servers) {
  return servers === 1 ? '1 server' : `${servers} servers`;
}

export const scenario = {
  name: 'start-up',
  title: 'Start-up',
  about:
    'Each server is a program with ten tools. "From the call" begins with the documented call that connects; "from ' +
    'the start" begins with the process, so it includes loading the library. The first server is usable when its ' +
    'tools are listed.',
  metrics: {
    totalMs: { label: 'all listed, from process start', unit: 'ms' },
    readyMs: { label: 'all listed, from the call', unit: 'ms' },
    firstMs: { label: 'first usable, from the call', unit: 'ms' },
    importMs: { label: 'import', unit: 'ms', ratio: false },
    cpuMs: { label: 'processor time', unit: 'ms' },
    rssMiB: { label: 'memory', unit: 'MiB', ratio: false },
  },
  plot: { metric: 'totalMs', cases: [1, 10, 50].map(caseName) },
  cases: ({ isQuick }) =>
    [
      { servers: 1, clients: [...KEY, ...PEERS], runs: 7, peerRuns: 3, seconds: 0.5 },
      { servers: 10, clients: [...KEY, ...PEERS], runs: 5, peerRuns: 2, seconds: 1 },
      { servers: 50, clients: [...KEY, ...PEERS], runs: 5, peerRuns: 1, seconds: 2 },
      { servers: 200, clients: [...KEY, 'client-v2'], runs: 3, peerRuns: 1, seconds: 5, limitMs: 90_000 },
    ]
      .filter(({ servers }) => !isQuick || servers <= 50)
      .map(({ servers, ...rest }) => ({ name: caseName(servers), params: { servers }, ...rest })),
};

export async function measure({ client, params, mark, sinceStart }) {
  const servers = stdioServers(params.servers, mark);
  const loading = performance.now();
  const library = await client.load('stdio');
  const begun = performance.now();
  let firstMs = null;
  const onListed = () => {
    firstMs ??= performance.now() - begun;
  };
  const handle = await client.open(library, servers, { onListed });
  const readyMs = performance.now() - begun;
  const totalMs = sinceStart();
  const { user, system } = process.cpuUsage();
  const rssMiB = process.memoryUsage.rss() / 2 ** 20;
  if (handle.tools !== 10 * params.servers)
    throw new Error(`${handle.tools} tools of ${10 * params.servers}`);
  await handle.close();
  return { totalMs, readyMs, firstMs, importMs: begun - loading, cpuMs: (user + system) / 1_000, rssMiB };
}
