/** Many small notifications. */
import { setImmediate as turn } from 'node:timers/promises';
import { KEY, PEERS } from '../contenders.mjs';
import { stdioServers } from '../servers.mjs';

const WAIT_MS = 5_000;

export const scenario = {
  name: 'notifications',
  title: 'Notifications',
  about:
    'A server sends small log messages as fast as they are read, within one call. The table shows the time until the ' +
    'host has received all. Some clients do not pass log messages to the host; their time is the time to read them.',
  metrics: {
    ms: { label: 'all', unit: 'ms' },
    eachUs: { label: 'each', unit: 'µs', ratio: false },
    cpuMs: { label: 'processor time', unit: 'ms', ratio: false },
    heard: { label: 'reported to the host', unit: '', ratio: false },
  },
  cases: ({ isQuick }) => [
    {
      name: 'stdio',
      params: { count: isQuick ? 30_000 : 100_000 },
      clients: [...KEY, ...PEERS],
      ...{ runs: 5, peerRuns: 1, seconds: isQuick ? 1 : 2 },
    },
  ],
};

export async function measure({ client, params: { count }, mark }) {
  const library = await client.load('stdio');
  const handle = await client.open(library, stdioServers(1, mark));
  const call = handle.caller('s0', 'notify');
  await call({ count: 1_000 });
  await turn();
  const before = handle.notified();
  const heard = () => handle.notified() - before;
  globalThis.gc();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await call({ count });
  const wanted = before > 0 ? count : 0;
  while (heard() < wanted && performance.now() - begun < WAIT_MS) await turn();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  await handle.close();
  return { ms, eachUs: (ms * 1_000) / count, cpuMs: (user + system) / 1_000, heard: heard() };
}
