/**
 * The process tree of a server on Windows, which knows neither process groups nor SIGTERM: the first rung that is
 * reached ends the tree by force. Who is left when the leader has ended by itself cannot be told.
 */
import { spawnSync, type ChildProcess } from 'node:child_process';
import type { ProcessTree } from './stop-ladder.js';

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
    spawnSync('taskkill', ['/pid', String(this.#pid), '/T', '/F'], { windowsHide: true, stdio: 'ignore' });
  }
}
