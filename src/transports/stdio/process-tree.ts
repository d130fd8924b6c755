/** The process tree of a program that Troupe starts, as the system can end it: a process group on POSIX, `taskkill` on Windows. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { descendantsOf, isKnown, livingProcesses, type LivingProcess } from './process-table.js';
import { type SessionMark, OWNER_VARIABLE, SESSION_VARIABLE, startOfOwner } from './owner-mark.js';
import { readFileSync } from 'node:fs';
import { parse, win32 } from 'node:path';
import { THIS_PLATFORM } from '../../platform/platform.js';

/** A program that was started, with everything it started. */
export interface ProcessTree {
  /** Whether the process that was spawned still runs. */
  readonly leaderAlive: boolean;
  /** Remembers the processes of the tree, while they can still be found. */
  takeStock(): void;
  /** Whether anything of the tree is alive. Once false it stays so. */
  isAlive(): boolean;
  /** Asks the whole tree to end, or ends it by force. May take effect after it returns, and never blocks. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Ends the whole tree by force before it returns: for a host that exits. */
  kill(): void;
}

// The process tree of a server that leads its own process group (POSIX).
//
// G1. A signal goes to the whole group, to descendants that have left it (`setsid`), if they were found, and to processes
//     with the marks of the session. Without marks, a process that left the group and lost its parent before the first look is
//     out of reach.
// G2. While the leader runs, no other process is checked; after its end the kernel is asked first, the process table last.
// G3. It is empty once no marked process is left either. Once found empty, the group is never signalled again: its number may be reused.

export class ProcessGroup implements ProcessTree {
  readonly #leader: Pick<ChildProcess, 'exitCode' | 'signalCode'>;
  readonly #id: number;
  readonly #mark: SessionMark | undefined;
  readonly #outsideGroup = new Set<number>();
  #gone = false;

  /**
   * @param leader Spawned `detached`, so its process id is the group's.
   * @param mark What its processes carry. Undefined if processes that left the group and lost their parent are to stay, or
   *   cannot be found.
   */
  constructor(leader: Pick<ChildProcess, 'exitCode' | 'signalCode'>, pid: number, mark?: SessionMark) {
    this.#leader = leader;
    this.#id = pid;
    this.#mark = mark;
  }

  get leaderAlive(): boolean {
    return this.#leader.exitCode === null && this.#leader.signalCode === null;
  }

  isAlive(): boolean {
    this.#gone ||= !this.leaderAlive && !this.#hasSurvivors();
    return !this.#gone;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isAlive()) return;
    this.takeStock();
    send(-this.#id, signal);
    for (const pid of this.#outsideGroup) send(pid, signal);
  }

  kill(): void {
    this.signal('SIGKILL');
  }

  takeStock(): void {
    const table = livingProcesses() ?? [];
    const marked = this.#mark === undefined ? [] : processesOf(this.#mark);
    for (const { pid, group } of marked) if (group !== this.#id) this.#outsideGroup.add(pid);
    const members = table.filter(({ group }) => group === this.#id).map(({ pid }) => pid);
    for (const { pid, group } of descendantsOf([...members, ...this.#outsideGroup], table)) {
      if (group !== this.#id) this.#outsideGroup.add(pid);
    }
  }

  #hasSurvivors(): boolean {
    if (this.#outsideGroup.size === 0 && !isKnown(-this.#id)) return this.#hasMarked();
    const living = livingProcesses();
    if (living === undefined) return isKnown(-this.#id);
    const pids = new Set(living.map(({ pid }) => pid));
    for (const stray of this.#outsideGroup) if (!pids.has(stray)) this.#outsideGroup.delete(stray);
    return this.#outsideGroup.size > 0 || living.some(({ group }) => group === this.#id) || this.#hasMarked();
  }

  #hasMarked(): boolean {
    if (this.#mark === undefined) return false;
    this.takeStock();
    return this.#outsideGroup.size > 0;
  }
}

/** A target that has just ended, or belongs to another user, is not a failure: the next check finds what is left. */
function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    return;
  }
}

// The living processes of a session, by their marks (Linux): those that have left the group of the server and lost their
// parent (daemons) are found in no other way.
//
// Not found: a process whose environment cannot be read, because it runs as another user or hides or overwrites it.

interface Reading {
  readonly owner: string;
  readonly table: readonly LivingProcess[] | undefined;
  readonly bySession: ReadonlyMap<string, readonly LivingProcess[]>;
}

let reading: Reading | undefined;

/** The environments are read once for each reading of the process table, however many sessions ask. */
export function processesOf(mark: SessionMark): readonly LivingProcess[] {
  const owner = mark[OWNER_VARIABLE];
  const table = livingProcesses();
  if (reading?.owner !== owner || reading.table !== table) {
    reading = { owner, table, bySession: readMarks(owner, table) };
    setImmediate(() => {
      reading = undefined;
    });
  }
  return reading.bySession.get(mark[SESSION_VARIABLE]) ?? [];
}

function readMarks(owner: string, table: Reading['table'] = []): Reading['bySession'] {
  const bySession = new Map<string, LivingProcess[]>();
  const since = startOfOwner(owner);
  for (const each of table) {
    // The children of the host are servers and the guard. No other process of a session has this parent.
    const isCandidate = each.parent !== process.pid && (each.start ?? since) >= since;
    const variables = isCandidate ? environmentOf(each.pid) : [];
    if (!variables.includes(`${OWNER_VARIABLE}=${owner}`)) continue;
    const prefix = `${SESSION_VARIABLE}=`;
    const session = variables.find((variable) => variable.startsWith(prefix))?.slice(prefix.length);
    if (session !== undefined) bySession.set(session, [...(bySession.get(session) ?? []), each]);
  }
  return bySession;
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

// The process tree of a server on Windows, which has no process groups and no SIGTERM: the first rung that is reached ends
// the tree by force. If the leader has ended by itself, the remaining processes cannot be found.

type Leader = Pick<ChildProcess, 'exitCode' | 'signalCode' | 'kill'>;

export class WindowsProcessTree implements ProcessTree {
  readonly #leader: Leader;
  readonly #pid: number;
  readonly #taskKill: TaskKill;
  #isEnding = false;

  constructor(leader: Leader, pid: number, taskKill: TaskKill) {
    this.#leader = leader;
    this.#pid = pid;
    this.#taskKill = taskKill;
  }

  get leaderAlive(): boolean {
    return this.#leader.exitCode === null && this.#leader.signalCode === null;
  }

  isAlive(): boolean {
    return this.leaderAlive;
  }

  takeStock(): void {
    return;
  }

  signal(): void {
    if (this.#isEnding || !this.leaderAlive) return;
    this.#isEnding = true;
    void this.#taskKill.end(this.#pid).then(() => {
      this.#isEnding = false;
      this.#endLeader();
    });
  }

  kill(): void {
    if (!this.leaderAlive) return;
    this.#taskKill.endNow(this.#pid);
    this.#endLeader();
  }

  /** In case that `taskkill` is missing or failed. */
  #endLeader(): void {
    if (this.leaderAlive) this.#leader.kill('SIGKILL');
  }
}

// Ends processes and their descendants on Windows, with its program `taskkill`. Starting it takes a tenth of a second, so
// processes that are to end in the same turn of the event loop share one.

/** Found by its place: anybody could put another program of that name into the search path or the working folder. */
export function taskKillFile(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe');
}

export class TaskKill {
  readonly #file: string;
  #waiting: number[] = [];
  #next: Promise<void> | undefined;

  constructor(file = taskKillFile()) {
    this.#file = file;
  }

  /** Resolves when the program has ended, whether it succeeded or not. */
  end(pid: number): Promise<void> {
    this.#waiting.push(pid);
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        const pids = this.#waiting;
        this.#waiting = [];
        this.#next = undefined;
        const child = spawn(this.#file, toArguments(pids), OPTIONS);
        child.once('exit', () => resolve());
        child.once('error', () => resolve());
      });
    });
    return this.#next;
  }

  /** Returns when the program has ended. */
  endNow(pid: number): void {
    spawnSync(this.#file, toArguments([pid]), OPTIONS);
  }
}

const OPTIONS = { windowsHide: true, stdio: 'ignore', cwd: parse(process.execPath).root } as const;

/** `/T`: with their descendants. `/F`: by force. */
function toArguments(pids: readonly number[]): string[] {
  return ['/T', '/F', ...pids.flatMap((pid) => ['/PID', String(pid)])];
}

const taskKill = new TaskKill();

/** @param mark What its processes carry; see `ProcessGroup`. */
export function startedTree(
  child: ChildProcess,
  pid: number,
  mark?: SessionMark,
  { hasProcessGroups } = THIS_PLATFORM,
): ProcessTree {
  return hasProcessGroups ? new ProcessGroup(child, pid, mark) : new WindowsProcessTree(child, pid, taskKill);
}
