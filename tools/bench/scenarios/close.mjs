/** Closing: its duration, and the processes that are left. */
import { setTimeout as pause } from 'node:timers/promises';
import { KEY, PEERS } from '../contenders.mjs';
import { processesWith, untilGone } from '../processes.mjs';
import { stdioServers, underShell } from '../servers.mjs';

const LATER_MS = 2_000;
const IN_PARALLEL = ['client-v2', 'ai-sdk', 'langchain', 'mastra'];

export const scenario = {
  name: 'close',
  title: 'Close',
  about:
    '*Obedient* servers exit at the end of their input. *Stubborn* servers run under `sh -c`, as start scripts often ' +
    'do, and ignore the end of their input and SIGTERM. `mcp-use` and `@openai/agents` close one server after ' +
    'another, 4 s each, and are left out there. The benchmark counts the servers that are still alive two seconds ' +
    'later, and then kills them.',
  metrics: {
    closeMs: { label: 'close', unit: 'ms' },
    atReturn: { label: 'alive when it returns', unit: '', ratio: false },
    later: { label: 'alive 2 s later', unit: '', ratio: false },
  },
  cases: ({ isQuick }) => [
    {
      name: '50 well-behaved',
      params: { servers: 50, isStubborn: false },
      clients: [...KEY, ...PEERS],
      ...{ runs: 3, peerRuns: 1, seconds: 2 },
    },
    {
      name: '50 that ignore SIGTERM, under sh -c',
      params: { servers: 50, isStubborn: true },
      clients: [...KEY, ...IN_PARALLEL],
      ...{ runs: 2, runsOf: isQuick ? { sdk: 0, floor: 0 } : { sdk: 1 }, peerRuns: 1, seconds: 6 },
    },
  ],
};

export async function measure({ client, params: { servers: count, isStubborn }, mark }) {
  const plain = stdioServers(count, mark, () => (isStubborn ? ['--stubborn'] : []));
  const servers = isStubborn ? plain.map(underShell) : plain;
  const library = await client.load('stdio');
  const handle = await client.open(library, servers);
  await pause(300);
  const begun = performance.now();
  await handle.close();
  const closeMs = performance.now() - begun;
  const atReturn = processesWith(mark).length;
  const later = atReturn === 0 ? 0 : await untilGone(mark, LATER_MS);
  return { closeMs, atReturn, later };
}
