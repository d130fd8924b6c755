/** Finds and ends processes by a mark in their arguments, and waits for the children of this one. Linux only. */
import { setTimeout as pause } from 'node:timers/promises';
import { argumentsOf, pids, textOf } from './process-table.mjs';

/** Ids of the processes that have the mark in their arguments and are not zombies. */
export function processesWith(mark) {
  return pids()
    .filter((pid) => argumentsOf(pid).includes(mark))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

export function endAll(marked) {
  for (const pid of marked) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
}

/** Waits until no process has the mark; returns the number of those that still have it after the limit. */
export async function untilGone(mark, limitMs) {
  const end = performance.now() + limitMs;
  while (processesWith(mark).length > 0 && performance.now() < end) await pause(20);
  return processesWith(mark).length;
}

export function hasChildren() {
  return textOf(`/proc/self/task/${process.pid}/children`).trim() !== '';
}

/** Waits for children, so that the processor time of servers counts for this measurement. */
export async function untilChildless(limitMs) {
  const end = performance.now() + limitMs;
  while (hasChildren() && performance.now() < end) await pause(10);
}
