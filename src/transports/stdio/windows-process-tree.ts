/**
 * The process tree of a server on Windows, which has no process groups and no SIGTERM: the first rung that is reached ends
 * the tree by force. If the leader has ended by itself, the remaining processes cannot be found.
 */
import type { ChildProcess } from 'node:child_process';
import type { ProcessTree } from './process-tree.js';
import type { TaskKill } from './task-kill.js';

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
