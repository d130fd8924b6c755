/**
 * A complete chaos run: records the resources before, runs a short warm-up and the actual phase, and compares the
 * resources afterwards.
 *
 * The warm-up loads and compiles everything, so that the heap has a stable level after it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchCrashes } from './crash-watch.mjs';
import { heapLevel } from './heap.mjs';
import { endMarkedProcesses, leftSince, markProcesses, currentResources } from './leftovers.mjs';
import { playPhase } from './phase.mjs';

/** The warm-up as a share of the duration, and its limits. */
const WARM_UP_PART = 1 / 8;
const MIN_WARM_UP_MS = 4_000;
const MAX_WARM_UP_MS = 30_000;
/** Allowed growth of the heap. */
const HEAP_TOLERANCE = 0.1;
const KIB = 1024;

/**
 * `report` receives the progress; `signal` ends the run early, without a verdict. Returns `{ passed, interrupted, faults,
 * figures }`: faults as sentences, figures as a record of records of numbers.
 */
export async function run({ connections, durationMs, seed, logFile, report, signal }) {
  // Before the resources are recorded, because the first report opens its stream.
  report(`seed ${seed}: ${connections} connections, warming up`);
  markProcesses();
  const folder = mkdtempSync(join(tmpdir(), 'troupe-chaos-'));
  const crashes = watchCrashes();
  const before = currentResources();
  const phase = (settings) => playPhase({ connections, logFile, report, signal, folder, ...settings });
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
