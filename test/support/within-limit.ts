/** A bound for what a program is to do. */
import type { ChildProcess } from 'node:child_process';

export interface Limit {
  readonly limitMs: number;
  /** Killed where it is late. */
  readonly child: ChildProcess;
  /** What is waited for, as it ends the sentence "15000 ms were over before ...". */
  readonly what: string;
  /** What the program has written, for whoever reads of the failure. */
  readonly output: () => string;
}

/** Rejects, and kills the program, where the wait takes longer than its limit in milliseconds. */
export async function withinLimit<T>(wait: Promise<T>, { limitMs, child, what, output }: Limit): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${limitMs} ms were over before ${what}.\n${output()}`));
    }, limitMs);
  });
  try {
    return await Promise.race([wait, limit]);
  } finally {
    clearTimeout(timer);
  }
}
