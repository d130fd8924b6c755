/** The current and the peak resident memory of this process in MiB. */
import { readFileSync, writeFileSync } from 'node:fs';

/** Without `/proc`, the peak is that of the whole process. */
export function residentMiB() {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)[1]) / 1_024;
    return { now: of('VmRSS'), peak: of('VmHWM') };
  } catch {
    return { now: process.memoryUsage.rss() / 2 ** 20, peak: process.resourceUsage().maxRSS / 1_024 };
  }
}

export function resetPeak() {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // In this case, the peak includes the start.
  }
}
