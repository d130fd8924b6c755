/**
 * Measures the other work of the machine during a measurement.
 *
 * Owns: the processor time of all processes (`/proc/stat`) minus that of the bench and of the processes of its run, in
 * cores. Linux only; on other systems, no run counts as noisy.
 */
import { processTable, textOf } from './process-table.mjs';
import { RunProcesses } from './run-processes.mjs';

/** Cores of other work above which a run is repeated. */
export const MAX_OTHER_LOAD = 0.25;
/** Ticks of `/proc` per second. */
const TICKS_A_SECOND = 100;

/** Ticks of processor time of the whole machine. */
export function machineTicks(stat) {
  const line = stat.slice(0, stat.indexOf('\n')).trim().split(/\s+/);
  const [user, nice, system, , , irq, softirq, steal] = line.slice(1).map(Number);
  return user + nice + system + irq + softirq + steal;
}

/**
 * Starts to measure; the returned function gives the cores that other processes used meanwhile, null if unknown.
 *
 * @param {RunProcesses} [processes] the processes of the run; default: this process and its children
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
