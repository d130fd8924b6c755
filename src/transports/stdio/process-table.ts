/**
 * The living processes of this machine, as far as the end of a process tree needs to know them.
 *
 * Reads Linux's `/proc`, else asks `ps`. A zombie is not living: only its number is left. It keeps the number forever if
 * its parent does not reap it (pid 1 of many containers), so `kill(pid, 0)` cannot be used.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { THIS_PLATFORM } from '../../platform/platform.js';

export interface LivingProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Clock ticks between the start of the machine and the start of the process. Unknown to `ps`. */
  readonly start?: number;
}

export interface ProcessStat {
  /** False for a zombie. */
  readonly isLiving: boolean;
  readonly parent: number;
  readonly group: number;
  /** Clock ticks between the start of the machine and the start of the process. */
  readonly start: string;
}

const START_FIELD = 19;

let snapshot: readonly LivingProcess[] | undefined;

/** As `readProcesses`, but read at most once per turn of the event loop, unless it is forgotten. */
export function livingProcesses(): readonly LivingProcess[] | undefined {
  if (snapshot === undefined) {
    snapshot = readProcesses();
    setImmediate(() => {
      snapshot = undefined;
    });
  }
  return snapshot;
}

/** What was read before the end of a process does not show what the process has left. */
export function forgetProcesses(): void {
  snapshot = undefined;
}

/** Undefined if the table cannot be read (no free file descriptor, no `ps`, Windows). */
export function readProcesses({ processTable } = THIS_PLATFORM): readonly LivingProcess[] | undefined {
  try {
    if (processTable === undefined) return undefined;
    return processTable === 'proc' ? fromProc() : fromPs();
  } catch {
    return undefined;
  }
}

function fromProc(): LivingProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => parseStat(pid, readUnlessEnded(`/proc/${pid}/stat`)));
}

function readUnlessEnded(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}

function parseStat(pid: string, stat: string): LivingProcess[] {
  const fields = fieldsOf(stat);
  const [state, parent, group] = fields;
  if (group === undefined || isOver(state)) return [];
  const start = Number(fields[START_FIELD]);
  return [{ pid: Number(pid), parent: Number(parent), group: Number(group), start }];
}

/** The fields after the first two of proc_pid_stat(5): `pid (comm) state ppid pgrp …`; comm may hold spaces and parentheses. */
const fieldsOf = (stat: string): string[] =>
  stat.slice(stat.lastIndexOf(')') + 2).split(' ', START_FIELD + 1);

const isOver = (state: string | undefined): boolean => state === 'Z' || state === 'X';

/** Undefined if there is no such process, or no `/proc` that shows it. */
export function statOf(pid: number): ProcessStat | undefined {
  try {
    const fields = fieldsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const [state, parent, group] = fields;
    const start = fields[START_FIELD];
    if (start === undefined) return undefined;
    return { isLiving: !isOver(state), parent: Number(parent), group: Number(group), start };
  } catch {
    return undefined;
  }
}

/** Whether the kernel knows such a process, or such a group (negative); zombies count. */
export function isKnown(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** BSD takes everything after the first `=` as the heading of that column, so each column has an option of its own. */
const COLUMNS = ['pid', 'ppid', 'pgid', 'stat'].flatMap((name) => ['-o', `${name}=`]);
const PS_LIMIT_MS = 5_000;

function fromPs(): LivingProcess[] {
  const options = { encoding: 'latin1', cwd: '/', timeout: PS_LIMIT_MS } as const;
  const rows = execFileSync('ps', ['-A', ...COLUMNS], options);
  return rows.split('\n').flatMap((row) => {
    const [pid, parent, group, state] = row.trim().split(/\s+/);
    if (state === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group) }];
  });
}

/** The descendants of the given processes, without these themselves. */
export function descendantsOf(roots: Iterable<number>, table: readonly LivingProcess[]): LivingProcess[] {
  const family = new Set(roots);
  const found: LivingProcess[] = [];
  for (let before = -1; before !== found.length;) {
    before = found.length;
    for (const process of table) {
      if (!family.has(process.parent) || family.has(process.pid)) continue;
      family.add(process.pid);
      found.push(process);
    }
  }
  return found;
}
