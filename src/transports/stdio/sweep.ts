/**
 * Finds what hosts have left behind that died together with their guard: the marks of servers that are still there.
 * Only where marks can be read (Linux). Whether a host is dead, and how its servers end, is decided elsewhere.
 *
 * A mark that this process or one of its ancestors carries is passed over: whoever was started by a left-over server
 * would end itself.
 */
import { readdir, readFile } from 'node:fs/promises';
import { OWNER_VARIABLE, ownMark } from './owner-mark.js';
import { statOf } from './process-table.js';

const PREFIX = `${OWNER_VARIABLE}=`;

/**
 * Reads one environment after the other, so that a start next to it is not held up. Never rejects.
 *
 * @param isOrphaned Asked once for every mark that is found.
 * @param end Told every mark of which that is so.
 */
export async function sweep(
  isOrphaned: (mark: string) => boolean,
  end: (mark: string) => void,
): Promise<void> {
  const own = ownMark();
  if (own === undefined) return;
  try {
    const settled = new Set([own, ...(await marksOfForebears())]);
    for (const pid of (await readdir('/proc')).map(Number)) {
      const mark = standsForItsGroup(pid) ? await markOf(pid) : undefined;
      if (mark === undefined || settled.has(mark)) continue;
      settled.add(mark);
      if (isOrphaned(mark)) end(mark);
    }
  } catch {
    return;
  }
}

/** Of this process and its ancestors. */
async function marksOfForebears(): Promise<string[]> {
  const marks: string[] = [];
  for (let pid = process.pid; pid > 0; pid = statOf(pid)?.parent ?? 0) {
    const mark = await markOf(pid);
    if (mark !== undefined) marks.push(mark);
  }
  return marks;
}

/** Every server leads its group. Of a group without its leader, everybody is looked at; kernel threads have none. */
function standsForItsGroup(pid: number): boolean {
  const stat = Number.isNaN(pid) ? undefined : statOf(pid);
  if (stat === undefined || !stat.isLiving || stat.group === 0) return false;
  return stat.group === pid || statOf(stat.group)?.isLiving !== true;
}

/** Undefined for a process that has ended, belongs to somebody else, or carries no mark. */
async function markOf(pid: number): Promise<string | undefined> {
  try {
    const variables = await readFile(`/proc/${pid}/environ`, 'latin1');
    return variables
      .split('\0')
      .find((variable) => variable.startsWith(PREFIX))
      ?.slice(PREFIX.length);
  } catch {
    return undefined;
  }
}
