/** Finds out which processes are still alive. A zombie counts as dead. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 20;

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  return !isZombie(pid);
}

/**
 * Watches processes until all have ended or `limitMs` after `since` (milliseconds since the epoch), and returns for each
 * how long after `since` it was last seen alive: `{ pid, aliveMs }`, negative for one that was never seen alive.
 */
export async function watchEnds(pids, since, limitMs) {
  const aliveMs = new Map(pids.map((pid) => [pid, -1]));
  let left = pids;
  for (;;) {
    const ms = Date.now() - since;
    left = left.filter(isAlive);
    for (const pid of left) aliveMs.set(pid, ms);
    if (left.length === 0 || ms >= limitMs) break;
    await pause(Math.min(POLL_MS, Math.max(1, limitMs - ms)));
  }
  return pids.map((pid) => ({ pid, aliveMs: aliveMs.get(pid) }));
}

export function killAll(pids) {
  for (const pid of [...pids].filter(isAlive)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
}

function isZombie(pid) {
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
