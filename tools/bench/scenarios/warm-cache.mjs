/** Cached tools from an earlier run, before any server has started. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hasChildren } from '../processes.mjs';
import { stdioServers } from '../servers.mjs';

const EARLIER = fileURLToPath(new URL('../earlier-run.mjs', import.meta.url));

export const scenario = {
  name: 'warm-cache',
  title: 'Tools of an earlier run',
  about:
    'An earlier process has started the servers once and filled the empty cache of tools. The table shows the time ' +
    'from the loaded library until `troupe.tools` contains all tools, and from the start of the process.',
  metrics: {
    toolsMs: { label: 'all tools, after import', unit: 'ms' },
    totalMs: { label: 'all tools, from process start', unit: 'ms' },
    spawned: { label: 'programs spawned by then', unit: '' },
    startMs: { label: '`start()` resolved', unit: 'ms' },
  },
  cases: () => [{ name: '50 servers', params: { servers: 50 }, clients: ['troupe'], runs: 5, seconds: 3 }],
};

export async function measure({ client, params, mark, dist, sinceStart }) {
  const servers = stdioServers(params.servers, mark);
  const before = sinceStart();
  execFileSync(process.execPath, [EARLIER, dist, JSON.stringify(servers)], { stdio: 'ignore' });
  const earlier = sinceStart() - before;
  const { createTroupe } = await client.load('stdio');
  const begun = performance.now();
  const entries = servers.map(({ name, command, args }) => [name, { command, args }]);
  const troupe = createTroupe({ servers: Object.fromEntries(entries) });
  const known = new Promise((resolve) => {
    const watching = troupe.tools$.subscribe((tools) => {
      if (tools.length < 10 * params.servers) return;
      resolve({
        toolsMs: performance.now() - begun,
        totalMs: sinceStart() - earlier,
        spawned: hasChildren() ? 1 : 0,
      });
      queueMicrotask(() => watching.unsubscribe());
    });
  });
  const starting = troupe.start();
  const figures = await known;
  await starting;
  const startMs = performance.now() - begun;
  await troupe.close();
  return { ...figures, startMs };
}
