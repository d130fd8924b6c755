/**
 * Finds resources that were left behind since a moment: a living process, a socket, a timer, a file descriptor, or a
 * listener on `process`.
 *
 * A process counts as left behind if it descends from this one, if a process started here led its group, or if its
 * environment carries the inherited mark. Where the table of processes cannot be read (Windows), only a process that was
 * started here counts. The mark is an `LC_` variable, because these pass the short allow-list of every
 * server's environment: so it also finds the orphan of an orphan. Zombies are dead.
 *
 * Resources that are about to end get a moment; timers that are `unref`ed are not seen. Resources without a name, such as
 * timers, are counted, so one that ends may hide one that is left; `expectNoLeaks` distinguishes timers.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { cutText } from '../text/visible-text.js';
import { descendantsOf, readProcesses } from '../transports/stdio/process-table.js';
import { AsyncLocalStorage, createHook } from 'node:async_hooks';

/**
 * Compares the resources of this process with those at the start of the tracking.
 *
 * @example
 * ```ts
 * import { trackLeaks } from 'mcp-troupe/testing';
 *
 * const tracker = trackLeaks();
 * for (const leak of await tracker.whatIsLeft()) console.warn(leak);
 * ```
 */
export interface LeakTracker {
  /** Resources that exist now and did not exist before, in words. Waits for those that are about to end. */
  whatIsLeft(): Promise<readonly string[]>;
  /**
   * Does nothing if no resource is left.
   *
   * @throws `Error` that lists what is left.
   */
  expectNone(): Promise<void>;
  /** Ends the tracking. Call it if neither of the other methods was called. */
  stop(): void;
}

/** Options of `expectNoLeaks` and `trackLeaks`. */
export interface LeakCheckOptions {
  /** Maximum wait for resources that are about to end, in milliseconds. Default 3,000. */
  readonly settleMs?: number;
}

const MARK_NAME = 'LC_TROUPE_LEAK_MARK';
const MARK = `${process.pid}-${Date.now()}`;
const POLL_MS = 20;
/** Longest command in a message. */
const MAX_CHARACTERS = 200;
/** Turns of the event loop and the reading of a directory, not things a test can leave behind. */
const PASSING_RESOURCES = new Set(['Immediate', 'FSReqCallback', 'FSReqPromise']);
/** The event loop opens these with its first stream, watcher and file, and keeps them. */
const LASTING_DESCRIPTORS = new Set(['/dev/null', 'anon_inode:inotify', 'anon_inode:[io_uring]']);
const TIMER = 'active resource: Timeout';

/**
 * Runs a function and gives its result, after checking that it left no process, timer, socket or file behind.
 *
 * @typeParam T Type of the result.
 * @param run The work. Called once; everything it starts must end before it settles, or soon after.
 * @param options Maximum wait for resources that are about to end. Default: 3,000 ms.
 *
 * @throws `Error` that lists what is left. An error of the function itself takes precedence.
 * @throws `TypeError` if `run` is not a function.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { expectNoLeaks } from 'mcp-troupe/testing';
 *
 * await expectNoLeaks(async () => {
 *   await using troupe = createTroupe({ config: '.mcp.json' });
 *   await troupe.start();
 * });
 * ```
 */
export async function expectNoLeaks<T>(
  run: () => Promise<T> | T,
  options: LeakCheckOptions = {},
): Promise<T> {
  if (typeof run !== 'function') throw new TypeError('expectNoLeaks requires a function.');
  const timers = new RunTimers();
  const leaks = track(options, () => timers.left);
  try {
    const result = await timers.watch(run);
    await leaks.expectNone();
    return result;
  } finally {
    leaks.stop();
    timers.stop();
  }
}

/**
 * Remembers the resources of this process, to compare them later.
 *
 * @param options Maximum wait for resources that are about to end. Default: 3,000 ms.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { trackLeaks } from 'mcp-troupe/testing';
 *
 * const tracker = trackLeaks();
 * const troupe = createTroupe({ config: '.mcp.json' });
 * await troupe.start();
 * await troupe.close();
 * await tracker.expectNone();
 * ```
 */
export function trackLeaks(options: LeakCheckOptions = {}): LeakTracker {
  return track(options, () => 0);
}

/** If `timersLeft` gives a number, at least that many new timers are left. */
function track({ settleMs = 3_000 }: LeakCheckOptions, timersLeft: () => number): LeakTracker {
  const spawned: ChildProcess[] = [];
  const onSpawn = (message: unknown): void => {
    spawned.push((message as { process: ChildProcess }).process);
  };
  process.env[MARK_NAME] = MARK;
  subscribe('child_process', onSpawn);
  openStdio();
  const before = whatThereIs([]);
  const leaksNow = (): string[] => {
    const found = newSince(before, whatThereIs(spawned));
    const hidden = timersLeft() - found.filter((leak) => leak === TIMER).length;
    return [...found, ...Array.from({ length: Math.max(0, hidden) }, () => TIMER)];
  };

  const stop = (): void => {
    unsubscribe('child_process', onSpawn);
  };
  const whatIsLeft = async (): Promise<readonly string[]> => {
    stop();
    await turn();
    let leaks = leaksNow();
    for (let waited = 0; leaks.length > 0 && waited < settleMs; waited += POLL_MS) {
      await pause(POLL_MS);
      await turn();
      leaks = leaksNow();
    }
    return leaks;
  };

  return {
    whatIsLeft,
    stop,
    async expectNone() {
      const leaks = await whatIsLeft();
      if (leaks.length > 0) throw new Error(`Left behind:\n${leaks.map((leak) => `- ${leak}`).join('\n')}`);
    },
  };
}

/** Node opens these at the first access, and keeps them. */
function openStdio(): readonly unknown[] {
  return [process.stdout, process.stderr];
}

/** Every resource that could be left behind, in words; the same words twice are two resources. */
function whatThereIs(spawned: readonly ChildProcess[]): string[] {
  return [...processes(spawned), ...resources(), ...fileDescriptors(), ...listeners()];
}

function newSince(before: readonly string[], now: readonly string[]): string[] {
  const known = [...before];
  return now.filter((thing) => {
    const at = known.indexOf(thing);
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
}

function processes(spawned: readonly ChildProcess[]): string[] {
  const table = readProcesses();
  if (table === undefined) return spawned.flatMap(runningChild);
  const groups = spawned.flatMap(({ pid }) => pid ?? []);
  const ours = new Set(descendantsOf([process.pid, ...groups], table).map(({ pid }) => pid));
  return table
    .filter(
      ({ pid, group }) => pid !== process.pid && (ours.has(pid) || groups.includes(group) || isMarked(pid)),
    )
    .map(({ pid }) => `process ${pid}: ${commandOf(pid)}`);
}

/** Without a table of processes only those that were started here are known. */
function runningChild({ pid, exitCode, signalCode, spawnargs }: ChildProcess): string[] {
  const isRunning = pid !== undefined && exitCode === null && signalCode === null;
  return isRunning ? [`process ${pid}: ${cutText(spawnargs.join(' '), MAX_CHARACTERS)}`] : [];
}

/** The command on one line, cut: it may contain a whole program. */
function commandOf(pid: number): string {
  return cutText(
    readProc(pid, 'cmdline')
      .replaceAll(/[\0\s]+/g, ' ')
      .trim(),
    MAX_CHARACTERS,
  );
}

const isMarked = (pid: number): boolean =>
  readProc(pid, 'environ').split('\0').includes(`${MARK_NAME}=${MARK}`);

/** Empty for a process that has ended or belongs to another user. */
function readProc(pid: number, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function resources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => !PASSING_RESOURCES.has(kind))
    .map((kind) => `active resource: ${kind}`);
}

function fileDescriptors(): string[] {
  try {
    return readdirSync('/proc/self/fd')
      .flatMap((fd) => targetOf(fd))
      .filter((target) => !LASTING_DESCRIPTORS.has(target))
      .map((target) => `file descriptor: ${target}`);
  } catch {
    return [];
  }
}

/** The descriptor that listed the directory is closed by then, so it has no target. */
function targetOf(fd: string): string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${fd}`)];
  } catch {
    return [];
  }
}

function listeners(): string[] {
  return process
    .eventNames()
    .flatMap((name) =>
      Array.from({ length: process.listenerCount(name) }, () => `listener on process: ${String(name)}`),
    );
}

/**
 * The timers that are set during one piece of work.
 *
 * Node only counts its timers, so a timer that is left is hidden by another one that ends in the meantime, and a test runner
 * always has some. The asynchronous context shows which timers belong to the work: a timer set from another context, for
 * instance by an older listener, is not seen here.
 */
class RunTimers {
  readonly #context = new AsyncLocalStorage<RunTimers>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #hook = createHook({
    init: (id, type, _, resource) => {
      if (type === 'Timeout' && this.#context.getStore() === this)
        this.#timers.set(id, resource as NodeJS.Timeout);
    },
    destroy: (id) => {
      this.#timers.delete(id);
    },
  });

  /** Runs the work and watches its timers, until `stop`. */
  watch<T>(run: () => T): T {
    this.#hook.enable();
    return this.#context.run(this, run);
  }

  /** Number of timers that are neither over nor `unref`ed; one that has ended counts until the next turn of the event loop. */
  get left(): number {
    return [...this.#timers.values()].filter((timer) => timer.hasRef()).length;
  }

  stop(): void {
    this.#hook.disable();
    this.#context.disable();
  }
}
