/** The cost of loading a library. */
import { KEY, PEERS } from '../contenders.mjs';

export const scenario = {
  name: 'import',
  title: 'Import',
  about:
    'The modules that a client of stdio servers has to import before its first call, in a fresh process with warm ' +
    'disk caches.',
  metrics: {
    importMs: { label: 'import', unit: 'ms' },
    totalMs: { label: 'from the start of the process', unit: 'ms' },
    cpuMs: { label: 'processor time', unit: 'ms', ratio: false },
    rssMiB: { label: 'memory', unit: 'MiB', ratio: false },
  },
  cases: () => [
    {
      name: 'stdio',
      params: { kind: 'stdio' },
      clients: [...KEY, ...PEERS],
      runs: 9,
      peerRuns: 3,
      seconds: 0.5,
    },
  ],
};

export async function measure({ client, params, sinceStart }) {
  const before = process.cpuUsage();
  const begun = performance.now();
  await client.load(params.kind);
  const importMs = performance.now() - begun;
  const totalMs = sinceStart();
  const { user, system } = process.cpuUsage(before);
  return { importMs, totalMs, cpuMs: (user + system) / 1_000, rssMiB: process.memoryUsage.rss() / 2 ** 20 };
}
