/** A time limit for a program. */
import type { ChildProcess } from 'node:child_process';
import { inTime } from './time-limit.js';

export interface Limit {
  readonly limitMs: number;
  /** Killed if the time is over. */
  readonly child: ChildProcess;
  /** The end of the sentence "15000 ms passed before ...". */
  readonly what: string;
  /** The output of the program, for the error. */
  readonly output: () => string;
}

/** Rejects, and kills the program, if the wait takes longer than its limit in milliseconds. */
export function withinLimit<T>(wait: Promise<T>, { limitMs, child, what, output }: Limit): Promise<T> {
  return inTime(wait, limitMs, () => {
    child.kill('SIGKILL');
    return new Error(`${limitMs} ms passed before ${what}.\n${output()}`);
  });
}
