/**
 * What else the machine was doing while something was measured.
 *
 * Owns: the processor time of everybody (`/proc/stat`) less that of the bench and of the processes of its run, in cores.
 * Elsewhere than on Linux nothing is known, and nothing is called noisy.
 */
import { processTable, textOf } from './process-table.mjs';
import { RunProcesses } from './run-processes.mjs';

/** More than so many cores of other work, and a run is taken again. */
export const MAX_OTHER_LOAD = 0.25;
/** What `/proc` counts in, a second. */
const TICKS_A_SECOND = 100;

/** Ticks of processor time that the machine has been busy. */
export function machineTicks(stat) {
  const line = stat.slice(0, stat.indexOf('\n')).trim().split(/\s+/);
  const [user, nice, system, , , irq, softirq, steal] = line.slice(1).map(Number);
  return user + nice + system + irq + softirq + steal;
}

/**
 * Begins to measure; the function gives the cores that others used meanwhile, null where that cannot be known.
 *
 * @param {RunProcesses} [processes] whose time is not that of others; only this process and its children where left out
 */
export function watchLoad(processes = new RunProcesses(process.pid, () => false)) {
  const begun = look(processes);
  return () => (begun === undefined ? null : otherLoad(begun, look(processes)));
}

export function otherLoad(begun, ended) {
  const machine = ended.machine - begun.machine;
  const own = ended.own - begun.own;
  const seconds = (ended.atMs - begun.atMs) / 1_000;
  return Math.max(0, (machine - own) / TICKS_A_SECOND / seconds);
}

export const isNoisy = (load, most = MAX_OTHER_LOAD) => load !== null && load > most;

function look(processes) {
  const stat = textOf('/proc/stat');
  if (stat === '') return undefined;
  processes.take(processTable());
  return { machine: machineTicks(stat), own: processes.ticks, atMs: performance.now() };
}
