/** Processes for a guard to end or to leave alone. Any that are left are killed after each test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, expect } from 'vitest';
import { readProcesses, statOf } from '../../src/transports/stdio/process-table.js';

export interface Planted {
  readonly child: ChildProcess;
  /** Process id of the leader of the group. */
  readonly pid: number;
  /** The process ids that it printed. */
  readonly printed: readonly number[];
}

/** Runs a shell script in its own process group; the script prints the id of each process it starts. */
export type Plant = (
  source: string,
  count?: number,
  env?: Readonly<Record<string, string>>,
) => Promise<Planted>;

/** A leader that ignores SIGTERM, and a child in its group that does too. */
export const DEAF_PAIR = `trap '' TERM; sleep 60 & echo $!; wait; sleep 60`;

export const isLiving = (pid: number): boolean => statOf(pid)?.isLiving ?? false;

export async function expectGone(pids: readonly number[], timeout = 2_000): Promise<void> {
  await expect.poll(() => pids.filter(isLiving), { timeout, interval: 20 }).toEqual([]);
}

/** The running guards that this process has started. */
export function ownGuards(): number[] {
  return (readProcesses() ?? [])
    .filter(({ pid, parent }) => parent === process.pid && commandOf(pid).includes('troupe-guard'))
    .map(({ pid }) => pid);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

export function usePlants(): Plant {
  const planted = new Set<number>();
  afterEach(() => {
    for (const pid of planted) if (isLiving(pid)) process.kill(pid, 'SIGKILL');
    planted.clear();
  });
  return async (source, count = 0, env = {}) => {
    const child = spawn('sh', ['-c', source], {
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    planted.add(child.pid!);
    const printed: number[] = [];
    if (count > 0) {
      for await (const line of createInterface(child.stdout)) {
        printed.push(Number(line));
        planted.add(Number(line));
        if (printed.length === count) break;
      }
    }
    child.stdout.destroy();
    return { child, pid: child.pid!, printed };
  };
}
