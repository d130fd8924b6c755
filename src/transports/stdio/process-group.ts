/**
 * The process tree of a server that leads its own process group (POSIX).
 *
 * G1. A signal goes to the whole group, to descendants that have left it (`setsid`), if they were found, and to processes
 *     with the marks of the session. Without marks, a process that left the group and lost its parent before the first look is
 *     out of reach.
 * G2. While the leader runs, no other process is checked; after its end the kernel is asked first, the process table last.
 * G3. It is empty once no marked process is left either. Once found empty, the group is never signalled again: its number may be reused.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { parse } from 'node:path';
import { descendantsOf, isKnown, livingProcesses } from './process-table.js';
import { processesOf } from './marked-processes.js';
import type { SessionMark } from './owner-mark.js';
import type { ProcessTree } from './stop-ladder.js';

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

/**
 * The process tree of a server on Windows, which has no process groups and no SIGTERM: the first rung that is reached ends
 * the tree by force. If the leader has ended by itself, the remaining processes cannot be found.
 */
export class WindowsProcessTree implements ProcessTree {
  readonly #leader: Pick<ChildProcess, 'exitCode'>;
  readonly #pid: number;

  constructor(leader: Pick<ChildProcess, 'exitCode'>, pid: number) {
    this.#leader = leader;
    this.#pid = pid;
  }

  get leaderAlive(): boolean {
    return this.#leader.exitCode === null;
  }

  isAlive(): boolean {
    return this.leaderAlive;
  }

  takeStock(): void {
    return;
  }

  signal(): void {
    if (!this.leaderAlive) return;
    spawnSync('taskkill', ['/pid', String(this.#pid), '/T', '/F'], {
      windowsHide: true,
      stdio: 'ignore',
      // Windows looks for the program in the working folder first.
      cwd: parse(process.execPath).root,
    });
  }
}
