/**
 * Ends processes and their descendants on Windows, with its program `taskkill`. Starting it takes a tenth of a second, so
 * processes that are to end in the same turn of the event loop share one.
 */
import { spawn, spawnSync } from 'node:child_process';
import { parse, win32 } from 'node:path';

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
