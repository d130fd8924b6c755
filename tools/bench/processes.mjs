/** Finds and ends processes by a mark in their arguments, and waits for the children of this one. Linux only. */
import { setTimeout as pause } from 'node:timers/promises';
import { argumentsOf, pids, textOf } from './process-table.mjs';

/** Ids of the processes that have the mark in their arguments and are no zombies. */
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
      // It has ended meanwhile.
    }
  }
}

/** Waits until no process has the mark any more; gives how many still have it at the end. */
export async function untilGone(mark, limitMs) {
  const end = performance.now() + limitMs;
  while (processesWith(mark).length > 0 && performance.now() < end) await pause(20);
  return processesWith(mark).length;
}

export function hasChildren() {
  return textOf(`/proc/self/task/${process.pid}/children`).trim() !== '';
}

/** So that the processor time of servers counts as this measurement's and not as somebody else's. */
export async function untilChildless(limitMs) {
  const end = performance.now() + limitMs;
  while (hasChildren() && performance.now() < end) await pause(10);
}
