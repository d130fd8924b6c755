/** One result of many megabytes over stdio: its time and peak memory. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { KEY, PEERS } from '../contenders.mjs';
import { residentMiB, resetPeak } from '../resident-memory.mjs';
import { stdioServers } from '../servers.mjs';

const MiB = 2 ** 20;
const LARGEST = 256 * MiB;

export const scenario = {
  name: 'large-results',
  title: 'Large results',
  about:
    'One text result, which the server has ready. Memory is the highest resident memory during the call, minus the ' +
    'resident memory before. The two SDK clients have a higher `maxBufferSize`, because by default they close the ' +
    'connection at 10 MiB, and Troupe higher `limits`; the others use their defaults.',
  metrics: {
    ms: { label: 'time', unit: 'ms' },
    growthMiB: { label: 'peak memory over idle', unit: 'MiB' },
    stallMs: { label: 'longest stall of the event loop', unit: 'ms', ratio: false },
    cpuMs: { label: 'processor time', unit: 'ms', ratio: false },
  },
  plot: { metric: 'ms', cases: ['1 MiB', '10 MiB', '50 MiB'], isLogarithmic: true },
  cases: ({ isQuick }) =>
    [1, 10, 50].map((size) => {
      const isSlow = size === 50 && { sdk: isQuick ? 0 : 1 };
      return {
        name: `${size} MiB`,
        params: { bytes: size * MiB },
        clients: [...KEY, ...PEERS],
        ...{ runs: 3, runsOf: isSlow || {}, peerRuns: 1 },
        ...{ seconds: size === 50 ? (isQuick ? 2 : 9) : 1, limitMs: 120_000 },
      };
    }),
};

export async function measure({ client, params, mark }) {
  const library = await client.load('stdio');
  const handle = await client.open(library, stdioServers(1, mark), { largest: LARGEST });
  const call = handle.caller('s0', 'large');
  for (let warm = 0; warm < 20; warm += 1) await call({ bytes: 10_000 });
  await call({ bytes: params.bytes, isAhead: true });
  globalThis.gc();
  await pause(100);
  const idle = residentMiB().now;
  resetPeak();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const result = await call({ bytes: params.bytes });
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  await pause(2);
  delays.disable();
  const { peak } = residentMiB();
  if (sizeOf(result) < params.bytes) throw new Error('the result is incomplete');
  await handle.close();
  return { ms, growthMiB: peak - idle, stallMs: delays.max / 1e6, cpuMs: (user + system) / 1_000 };
}

/** A text, blocks, or a result that has blocks. */
function sizeOf(result) {
  if (typeof result === 'string') return result.length;
  const blocks = Array.isArray(result) ? result : result.content;
  return blocks.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
}
