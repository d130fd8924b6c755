/**
 * A whole chaos run: what there is before, a short phase to warm up, the phase that counts, and what there is after.
 *
 * The first chaos compiles and loads what every later one finds there; only from then on has the heap a level.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchCrashes } from './crash-watch.mjs';
import { heapLevel } from './heap.mjs';
import { endMarkedProcesses, leftSince, markProcesses, whatThereIs } from './leftovers.mjs';
import { playPhase } from './phase.mjs';

/** Which part of the time it takes to warm up, and its bounds. */
const WARM_UP_PART = 1 / 8;
const MIN_WARM_UP_MS = 4_000;
const MAX_WARM_UP_MS = 30_000;
/** How far the heap may be above its level. */
const HEAP_TOLERANCE = 0.1;
const KIB = 1024;

/**
 * `tell` hears how far it is; `signal` ends it early, without a verdict. Gives `{ passed, interrupted, faults,
 * figures }`: faults as sentences, figures as a record of records of numbers.
 */
export async function run({ connections, durationMs, seed, logFile, tell, signal }) {
  // Before anything is looked at: what is told first makes the stream that tells it.
  tell(`seed ${seed}: ${connections} connections, warming up`);
  markProcesses();
  const folder = mkdtempSync(join(tmpdir(), 'troupe-chaos-'));
  const crashes = watchCrashes();
  const before = whatThereIs();
  const phase = (settings) => playPhase({ connections, logFile, tell, signal, folder, ...settings });
  try {
    const warmUpMs = Math.min(MAX_WARM_UP_MS, Math.max(MIN_WARM_UP_MS, durationMs * WARM_UP_PART));
    const warmUp = await phase({ name: 'warm-up', durationMs: warmUpMs, seed: seed ^ 1 });
    if (signal.aborted) return { passed: false, interrupted: true, ...warmUp };
    const level = await heapLevel();
    const { figures, faults } = await phase({ name: 'chaos', durationMs, seed });
    const left = await leftSince(before);
    const levelAfter = await heapLevel();
    const growth = levelAfter.data / level.data - 1;
    faults.unshift(...warmUp.faults.map((fault) => `in the warm-up: ${fault}`));
    faults.push(...left.map((thing) => `left behind: ${thing}`), ...(await crashes.end()));
    if (growth > HEAP_TOLERANCE) faults.push(`the heap has grown by ${(growth * 100).toFixed(1)} %`);
    figures.heap = {
      'data before (KiB)': Math.round(level.data / KIB),
      'data after (KiB)': Math.round(levelAfter.data / KIB),
      'data growth (%)': Number((growth * 100).toFixed(1)),
      'code before (KiB)': Math.round(level.code / KIB),
      'code after (KiB)': Math.round(levelAfter.code / KIB),
    };
    return { passed: faults.length === 0, interrupted: signal.aborted, figures, faults };
  } finally {
    await crashes.end();
    endMarkedProcesses();
    rmSync(folder, { recursive: true, force: true });
  }
}
