/** Which of some processes are still alive. A process that has ended and was not yet collected is dead. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 50;

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  return !isZombie(pid);
}

/** Waits for all of them to end, at most until `deadline` (milliseconds since the epoch), and gives those that did not. */
export async function survivors(pids, deadline) {
  let left = pids.filter(isAlive);
  while (left.length > 0 && Date.now() < deadline) {
    await pause(POLL_MS);
    left = left.filter(isAlive);
  }
  return left;
}

export function killAll(pids) {
  for (const pid of pids.filter(isAlive)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended in between.
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
