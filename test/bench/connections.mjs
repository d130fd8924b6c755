// How the cost of a connection grows with their number, and what silent servers cost the others.
// Ratios count; milliseconds are this machine's. Usage: node --expose-gc test/bench/connections.mjs
import { fileURLToPath } from 'node:url';
import { createTroupe } from '../../dist/src/index.js';
import { inProcessServer } from './small-server.mjs';

// Makes every Node process start some 60 ms later, whoever starts it.
delete process.env.NODE_EXTRA_CA_CERTS;

const serverFile = fileURLToPath(new URL('./small-server.mjs', import.meta.url));
const ROUNDS = 7;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function startAndStop(count) {
  const servers = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`s${i}`, { type: 'in-process', server: inProcessServer() }]),
  );
  const troupe = createTroupe({ servers, startGateMs: 120_000, cache: false });
  globalThis.gc?.();
  const begun = performance.now();
  const { ready } = await troupe.start();
  const started = performance.now();
  await troupe.close();
  const closed = performance.now();
  if (ready.length !== count) throw new Error(`only ${ready.length} of ${count} were ready`);
  return { start: ((started - begun) * 1000) / count, stop: ((closed - started) * 1000) / count };
}

async function growth() {
  const sizes = [500, 1000, 2000];
  for (const size of [500, 500]) await startAndStop(size);
  const samples = new Map(sizes.map((size) => [size, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const size of sizes) samples.get(size).push(await startAndStop(size));
  }
  const figures = sizes.map((size) => ({
    size,
    start: median(samples.get(size).map((sample) => sample.start)),
    stop: median(samples.get(size).map((sample) => sample.stop)),
  }));
  console.log('In-process connections, microseconds per connection (median of', ROUNDS, 'rounds)');
  for (const { size, start, stop } of figures) {
    console.log(
      `  ${String(size).padStart(5)}  start ${start.toFixed(0).padStart(6)}  stop ${stop.toFixed(0).padStart(6)}`,
    );
  }
  const [few, , many] = figures;
  console.log(
    `  ratio 2,000 to 500: start ${(many.start / few.start).toFixed(2)}, stop ${(many.stop / few.stop).toFixed(2)}`,
  );
}

/** Milliseconds until 40 good servers of 40 plus `others` are ready; the others come first in the list. */
async function timeToForty(others, args) {
  const entry = (flags) => ({ command: process.execPath, args: [serverFile, ...flags] });
  const servers = {};
  for (let i = 0; i < others; i += 1) servers[`other-${i}`] = entry(args);
  for (let i = 0; i < 40; i += 1) servers[`good-${i}`] = entry([]);
  const troupe = createTroupe({ servers, cache: false });
  const begun = performance.now();
  let ready = 0;
  const fortyReady = new Promise((resolve) => {
    troupe.events$.subscribe(({ type, connection }) => {
      if (type === 'connection.ready' && connection.startsWith('good') && (ready += 1) === 40) {
        resolve(performance.now() - begun);
      }
    });
  });
  void troupe.start();
  const ms = await fortyReady;
  await troupe.close();
  return ms;
}

async function silentNeighbours() {
  const rounds = { alone: [], good: [], silent: [] };
  for (let round = 0; round < 5; round += 1) {
    rounds.alone.push(await timeToForty(0, []));
    rounds.good.push(await timeToForty(10, []));
    rounds.silent.push(await timeToForty(10, ['--silent']));
  }
  const ms = Object.fromEntries(Object.entries(rounds).map(([name, values]) => [name, median(values)]));
  const line = (label, value) => console.log(`  ${label.padEnd(32)} ${value.toFixed(0).padStart(5)} ms`);
  console.log('40 stdio servers, all ready after (median of 5 rounds, interleaved)');
  line('alone', ms.alone);
  line('behind 10 more that answer', ms.good);
  line('behind 10 that never answer', ms.silent);
  console.log(
    `  ratio never to answering: ${(ms.silent / ms.good).toFixed(2)}, to alone: ${(ms.silent / ms.alone).toFixed(2)}`,
  );
}

await growth();
await silentNeighbours();
