/**
 * Finds the servers of hosts that died together with their guard, by their marks. Works only if marks can be read (Linux).
 * `owner-mark.ts` decides whether a host is dead, and `guard.ts` ends its servers.
 *
 * Only processes of this user count: anyone can make up the mark of a dead host.
 *
 * A mark that this process or one of its ancestors carries is skipped: a process that a left-over server started would
 * otherwise end itself.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { OWNER_VARIABLE, ownMark } from './owner-mark.js';
import { statOf } from './process-table.js';

const PREFIX = `${OWNER_VARIABLE}=`;

/**
 * Reads one environment after the other, so that a start at the same time is not delayed. Never rejects.
 *
 * @param isOrphaned Called once for every mark that is found.
 * @param end Called for every orphaned mark.
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
      const isOurs = standsForItsGroup(pid) && (await isOfThisUser(pid));
      const mark = isOurs ? await markOf(pid) : undefined;
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

/** Every server leads its group. If the leader of a group is gone, each member is checked. Kernel threads have no group. */
function standsForItsGroup(pid: number): boolean {
  const stat = Number.isNaN(pid) ? undefined : statOf(pid);
  if (stat === undefined || !stat.isLiving || stat.group === 0) return false;
  return stat.group === pid || statOf(stat.group)?.isLiving !== true;
}

async function isOfThisUser(pid: number): Promise<boolean> {
  const found = await stat(`/proc/${pid}`).catch(() => undefined);
  return found !== undefined && found.uid === process.geteuid?.();
}

/** Undefined for a process that has ended, belongs to someone else, or carries no mark. */
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
