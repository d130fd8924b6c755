/**
 * Runs a shell command once, and returns its stdout. The command leads its own process group; nothing of it is left when
 * the promise settles, and the guard ends it if the host dies.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../../ports.js';
import { outputOf } from '../../failures/output.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import { onAbort } from '../../async/abort.js';
import { settlesWithin } from '../../async/timers.js';
import { THIS_PLATFORM } from '../../platform/platform.js';
import { guardServer } from './guard.js';
import { hasSpawned, markedEnvironment } from './spawn-server.js';
import { startedTree } from './process-tree.js';
import { StopLadder } from './stop-ladder.js';
import { reasonOf } from '../../text/error-message.js';

export interface CommandRun {
  readonly command: string;
  /** What the command is, for messages. */
  readonly name: string;
  readonly cwd: string;
  /** The complete environment, except the mark of the owner. */
  readonly env: Readonly<Record<string, string>>;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const MAX_OUTPUT = 256 * 1024;
/** Time to read what it wrote before it ended. */
const LAST_OUTPUT_MS = 1_000;
/** A command over its limit gets little time to clean up. */
const STOP = { stdinEndMs: 0, termMs: 500 };

/** Rejects with a `TransportError` if it fails, prints too much or takes too long, and with the reason of the signal. */
export async function runCommand(run: CommandRun): Promise<string> {
  const { command, name, cwd, env, limitMs, clock, signal } = run;
  signal.throwIfAborted();
  const guarded = guardServer(() => {});
  const child = spawn(command, {
    shell: true,
    cwd,
    // Without marks: an agent that it starts, such as one of a password manager, is for later runs as well.
    env: markedEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: THIS_PLATFORM.hasProcessGroups,
    windowsHide: true,
  });
  if (child.pid === undefined) {
    const why = await hasSpawned(child).then(() => 'it has no process id', reasonOf);
    await guarded.leave();
    throw failed({ code: 'spawn-failed', message: `The ${name} could not be started (${why}).` });
  }
  guarded.cover(child.pid);
  const tree = startedTree(child, child.pid);
  const ladder = new StopLadder({ tree, clock, policy: STOP, endInput: () => {} });
  let stdout = '';
  let stderr = '';
  let stopped: unknown;
  const stop = (why: unknown): void => {
    stopped ??= why;
    ladder.kill();
  };
  const timer = clock.setTimeout(
    () => stop(failed({ code: 'launch-timeout', message: `The ${name} did not end within ${limitMs} ms.` })),
    limitMs,
  );
  const unlisten = onAbort(signal, { handleEvent: () => stop(signal.reason) });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.length > MAX_OUTPUT)
      stop(
        failed({ code: 'spawn-failed', message: `The ${name} printed more than ${MAX_OUTPUT} characters.` }),
      );
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-MAX_OUTPUT);
  });
  const closed = once(child, 'close').catch(() => {});
  try {
    const [code, endedBy] = (await once(child, 'exit')) as [number | null, string | null];
    // Its background processes would keep the pipes open.
    await ladder.run();
    await settlesWithin(clock, LAST_OUTPUT_MS, closed);
    if (stopped !== undefined) throw stopped as Error;
    if (code === 0) return stdout;
    throw failed({
      code: 'process-exited',
      message: `The ${name} ended with ${code === null ? `signal ${endedBy}` : `exit code ${code}`}.`,
      exit: { code, signal: endedBy },
      ...outputOf(
        stderr.split(/\r?\n/).filter((line) => line !== ''),
        [],
      ),
    });
  } finally {
    clock.clearTimeout(timer);
    unlisten();
    child.stdout.destroy();
    child.stderr.destroy();
    await guarded.leave();
  }
}

function failed(failure: RawFailure): TransportError {
  return new TransportError(failure);
}
