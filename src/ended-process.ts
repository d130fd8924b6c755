/** Whether who has left something is still there: what a killed process leaves is nobody's, and can be cleared. */
import { hostname } from 'node:os';

/** How `hasEnded` knows this process again: its number, and the machine that gave it. */
export const thisProcess = (): { readonly pid: number; readonly host: string } => ({
  pid: process.pid,
  host: hostname(),
});

/** False where that cannot be known: a number says nothing on another machine, or in another container. */
export function hasEnded({ pid, host }: { readonly pid: number; readonly host: string }): boolean {
  if (host !== hostname() || !Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
