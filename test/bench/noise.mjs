/**
 * What else the machine was doing while something was measured.
 *
 * Owns: the processor time of everybody (`/proc/stat`) less that of this process and of all it has started and seen end
 * (`/proc/self/stat`), in cores. Elsewhere than on Linux nothing is known, and nothing is called noisy.
 */
import { readFileSync } from 'node:fs';

/** More than so many cores of other work, and a run is taken again. */
export const MOST_OTHER_LOAD = 0.25;
/** What `/proc` counts in, a second. */
const TICKS_A_SECOND = 100;

const read = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Ticks of processor time: of the machine, and of this process with its ended children. */
export function ticksIn(stat, ownStat) {
  const [user, nice, system, , , irq, softirq, steal] = stat
    .slice(0, stat.indexOf('\n'))
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  // The name of the program may hold spaces and brackets; the numbers begin after the last one.
  const own = ownStat.slice(ownStat.lastIndexOf(')') + 2).split(' ');
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return {
    machine: sum([user, nice, system, irq, softirq, steal]),
    own: sum(own.slice(11, 15).map(Number)),
  };
}

/** Begins to measure; the function gives the cores that others used meanwhile, null where that cannot be known. */
export function watchLoad() {
  const begun = look();
  return () => (begun === undefined ? null : otherLoad(begun, look()));
}

export function otherLoad(begun, ended) {
  const machine = ended.machine - begun.machine;
  const own = ended.own - begun.own;
  const seconds = (ended.atMs - begun.atMs) / 1_000;
  return Math.max(0, (machine - own) / TICKS_A_SECOND / seconds);
}

export const isNoisy = (load, most = MOST_OTHER_LOAD) => load !== null && load > most;

function look() {
  const stat = read('/proc/stat');
  const ownStat = read('/proc/self/stat');
  if (stat === undefined || ownStat === undefined) return undefined;
  return { ...ticksIn(stat, ownStat), atMs: performance.now() };
}
