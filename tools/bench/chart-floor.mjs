/**
 * What XState itself takes for an idle connection: a machine with one state and an empty context as the child of another,
 * with and without the one actor that every connection invokes. `node --expose-gc tools/bench/chart-floor.mjs`
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createActor, createMachine, fromCallback, spawnChild } from 'xstate';

const ACTORS = 1_000;

const watch = fromCallback(() => () => {});
const plain = createMachine({ context: {}, initial: 'ready', states: { ready: {} } });
const watched = createMachine({
  context: {},
  initial: 'ready',
  states: { ready: { invoke: { src: watch, id: 'watch' } } },
});

/** The parent of `count` actors. */
function spawn(child, count) {
  const children = Array.from({ length: count }, (_, index) => spawnChild(child, { id: `s${index}` }));
  return createActor(createMachine({ entry: children })).start();
}

async function heapKiB(child) {
  spawn(child, 10);
  const before = await settledHeap();
  const parent = spawn(child, ACTORS);
  const kept = (await settledHeap()) - before;
  parent.stop();
  return kept / 1_024 / ACTORS;
}

async function settledHeap() {
  for (let times = 0; times < 4; times += 1) {
    await pause(150);
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}

console.log(`Heap of an idle actor of XState, KiB (${ACTORS} of them)`);
console.log(`  a machine with one state ${(await heapKiB(plain)).toFixed(1)}`);
console.log(`  the same with one invoked callback ${(await heapKiB(watched)).toFixed(1)}`);
