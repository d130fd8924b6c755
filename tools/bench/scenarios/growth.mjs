/** The cost of a connection by the number of connections. */
import { median } from '../statistics.mjs';
import { memoryServers } from '../servers.mjs';

const SIZES = [500, 1_000, 2_000];

export const scenario = {
  name: 'growth',
  title: 'Many connections in one process',
  about:
    'Servers in the same process are started and stopped, after two rounds of warm-up; the figures are medians of the ' +
    'rounds of each process. If the time for one connection does not grow with their number, the total is linear.',
  metrics: Object.fromEntries(
    SIZES.flatMap((size) => [
      [`start${size}Us`, { label: `start, ${size.toLocaleString('en')}`, unit: 'µs each' }],
      [`stop${size}Us`, { label: `stop, ${size.toLocaleString('en')}`, unit: 'µs each', ratio: false }],
    ]),
  ),
  cases: ({ isQuick }) => [
    {
      name: 'in memory',
      params: { rounds: isQuick ? 2 : 4 },
      clients: ['troupe', 'sdk'],
      ...{ runs: 2, seconds: 20, limitMs: 180_000 },
    },
  ],
};

export async function measure({ client, params: { rounds } }) {
  const library = await client.load('memory');
  const once = async (size) => {
    const servers = memoryServers(size);
    globalThis.gc();
    const begun = performance.now();
    const handle = await client.open(library, servers);
    const started = performance.now();
    await handle.close();
    if (handle.failed > 0) throw new Error(`${handle.failed} of ${size} failed`);
    const each = (ms) => (ms * 1_000) / size;
    return { start: each(started - begun), stop: each(performance.now() - started) };
  };
  for (const size of [SIZES[0], SIZES[0]]) await once(size);
  const samples = SIZES.map(() => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [at, size] of SIZES.entries()) samples[at].push(await once(size));
  return Object.fromEntries(
    SIZES.flatMap((size, at) => [
      [`start${size}Us`, median(samples[at].map(({ start }) => start))],
      [`stop${size}Us`, median(samples[at].map(({ stop }) => stop))],
    ]),
  );
}
