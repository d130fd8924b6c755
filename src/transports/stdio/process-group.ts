/**
 * The process tree of a server that leads its own process group (POSIX).
 *
 * G1. A signal goes to the whole group, and to the descendants that have left it (`setsid`), as far as they could
 *     be found: whoever left and has lost its parent before the first look is out of reach.
 * G2. While the leader runs nobody else is looked at; after it the kernel is asked first, the process table last.
 * G3. Once found empty, the group is never signalled again: its number may belong to somebody else.
 */
import type { ChildProcess } from 'node:child_process';
import { descendantsOf, isKnown, livingProcesses } from './process-table.js';
import type { ProcessTree } from './stop-ladder.js';

export class ProcessGroup implements ProcessTree {
  readonly #leader: Pick<ChildProcess, 'exitCode' | 'signalCode'>;
  readonly #id: number;
  readonly #strays = new Set<number>();
  #gone = false;

  /** @param leader Spawned `detached`, so its process id is the group's. */
  constructor(leader: Pick<ChildProcess, 'exitCode' | 'signalCode'>, pid: number) {
    this.#leader = leader;
    this.#id = pid;
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
    for (const pid of this.#strays) send(pid, signal);
  }

  takeStock(): void {
    const table = livingProcesses() ?? [];
    const members = table.filter(({ group }) => group === this.#id).map(({ pid }) => pid);
    for (const { pid, group } of descendantsOf([...members, ...this.#strays], table)) {
      if (group !== this.#id) this.#strays.add(pid);
    }
  }

  #hasSurvivors(): boolean {
    if (this.#strays.size === 0 && !isKnown(-this.#id)) return false;
    const living = livingProcesses();
    if (living === undefined) return isKnown(-this.#id);
    const pids = new Set(living.map(({ pid }) => pid));
    for (const stray of this.#strays) if (!pids.has(stray)) this.#strays.delete(stray);
    return this.#strays.size > 0 || living.some(({ group }) => group === this.#id);
  }
}

/** A target that has just ended, or belongs to another user, is no failure: the next look tells who is left. */
function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    return;
  }
}
