/**
 * Starts the shell that runs the guard's script. It is a session of its own, which no terminal reaches, holds no
 * directory, gets none of the host's variables but the search path, and does not keep the host running.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { GUARD_SCRIPT } from './guard-script.js';

/** A guard that runs until its `stdin` is closed. That pipe is closed on exec: no server can inherit it. */
export interface GuardProcess extends ChildProcess {
  readonly stdin: Socket;
}

/** @param onFailure Told why there is no guard where undefined is returned, at once or a moment later. */
export type StartGuard = (onFailure: (error: unknown) => void) => GuardProcess | undefined;

export function startGuard(
  mark: string | undefined,
  onFailure: (error: unknown) => void,
): GuardProcess | undefined {
  try {
    const child = run('troupe-guard', mark, 'pipe');
    const hasStarted = child.pid !== undefined;
    // Later errors are those of a `kill`: the closed pipe ends it all the same.
    child.on('error', hasStarted ? ignore : onFailure);
    child.stdin?.on('error', ignore);
    if (hasStarted) (child.stdin as Socket).unref();
    else child.stdin?.destroy();
    return hasStarted ? (child as GuardProcess) : undefined;
  } catch (error) {
    onFailure(error);
    return undefined;
  }
}

/** Ends every process that carries the mark, and whatever descends from those. It takes a second. */
export function endMarked(mark: string): void {
  run('troupe-sweep', mark, 'ignore').on('error', ignore);
}

function run(name: string, mark: string | undefined, stdin: 'pipe' | 'ignore'): ChildProcess {
  const child = spawn('sh', ['-c', GUARD_SCRIPT, name, mark ?? ''], {
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    stdio: [stdin, 'ignore', 'ignore'],
    detached: true,
  });
  child.unref();
  return child;
}

/** Whoever needs a guard looks for himself whether it lives. */
function ignore(): void {
  return;
}
