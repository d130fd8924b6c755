/**
 * Finds resources that were left behind since a moment: a living process, a socket, a timer, a file descriptor, or a
 * listener on `process`. Longer than 300 lines because each kind of resource is found in its own way.
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
import { requireKnown, type OptionNames } from '../text/option-names.js';
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
const RESOURCE = 'active resource: ';
const TIMER = `${RESOURCE}Timeout`;
/** Leaks in a message, and lines of a stack of each. */
const MAX_LEAKS = 8;
const MAX_FRAMES = 3;

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
  requireKnown('expectNoLeaks', options, OPTIONS);
  const started = new RunResources();
  const leaks = track(options, started);
  try {
    const result = await started.watch(run);
    await leaks.expectNone();
    return result;
  } finally {
    leaks.stop();
    started.stop();
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
  requireKnown('trackLeaks', options, OPTIONS);
  return track(options);
}

const OPTIONS: OptionNames<LeakCheckOptions> = { settleMs: true };

/** At least as many new timers are left as `started` knows. */
function track({ settleMs = 3_000 }: LeakCheckOptions, started?: RunResources): LeakTracker {
  const spawned: ChildProcess[] = [];
  const stacks = new Map<string, string>();
  const onSpawn = (message: unknown): void => {
    const { process: child } = message as { process: ChildProcess };
    spawned.push(child);
    stacks.set(`process ${child.pid}:`, stackHere());
  };
  process.env[MARK_NAME] = MARK;
  subscribe('child_process', onSpawn);
  openStdio();
  const before = whatThereIs([]);
  const leaksNow = (): string[] => {
    const found = newSince(before, whatThereIs(spawned));
    const hidden = (started?.timersLeft ?? 0) - found.filter((leak) => leak === TIMER).length;
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
      if (leaks.length === 0) return;
      const placeOf = (leak: string): string | undefined =>
        started?.stackOf(leak) ?? stacks.get(leak.slice(0, leak.indexOf(':') + 1));
      throw new Error(`Left behind:\n${report(leaks, placeOf)}`);
    },
  };
}

/** Equal leaks together, each with the place where it was made if that is known. */
function report(leaks: readonly string[], placeOf: (leak: string) => string | undefined): string {
  const kinds = [...new Set(leaks)];
  const lines = kinds.slice(0, MAX_LEAKS).map((leak) => {
    const count = leaks.filter((each) => each === leak).length;
    const place = placeOf(leak) ?? '';
    return `- ${leak}${count > 1 ? ` (${count} times)` : ''}${place === '' ? '' : `\n${place}`}`;
  });
  const more = kinds.length - MAX_LEAKS;
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
}

/** The frames outside of Node and of this file: without this function and the one that calls it. */
function stackHere(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  const { stack = '' } = new Error('here');
  Error.stackTraceLimit = limit;
  return stack
    .split('\n')
    .slice(3)
    .filter((line) => !/\bnode:|\bat (?:RunResources|expectNoLeaks)\b/.test(line))
    .slice(0, MAX_FRAMES)
    .join('\n');
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
 * The resources that one piece of work makes, each with the place where that happens.
 *
 * Node only counts its timers, so a timer that is left is hidden by another one that ends in the meantime, and a test runner
 * always has some. The asynchronous context shows which belong to the work: a timer set from another context, for
 * instance by an older listener, is not seen here.
 */
class RunResources {
  readonly #context = new AsyncLocalStorage<RunResources>();
  readonly #living = new Map<
    number,
    { readonly type: string; readonly timer: NodeJS.Timeout | undefined; readonly stack: string }
  >();
  readonly #hook = createHook({
    init: (id, type, _, resource) => {
      if (PLAIN.has(type) || this.#context.getStore() !== this) return;
      // Nothing but a timer is held: some runtimes close what the garbage collector finds.
      const timer = type === 'Timeout' ? (resource as NodeJS.Timeout) : undefined;
      this.#living.set(id, { type, timer, stack: stackHere() });
    },
    destroy: (id) => {
      this.#living.delete(id);
    },
  });

  /** Runs the work and watches what it makes, until `stop`. */
  watch<T>(run: () => T): T {
    this.#hook.enable();
    return this.#context.run(this, run);
  }

  /** Number of timers that are neither over nor `unref`ed; one that has ended counts until the next turn of the event loop. */
  get timersLeft(): number {
    return this.#timers.length;
  }

  get #timers(): readonly { readonly stack: string }[] {
    return [...this.#living.values()].filter(({ timer }) => timer?.hasRef() === true);
  }

  /** Where the latest resource of that leak was made. */
  stackOf(leak: string): string | undefined {
    if (leak === TIMER) return this.#timers.at(-1)?.stack;
    if (!leak.startsWith(RESOURCE)) return undefined;
    const name = leak.slice(RESOURCE.length).toLowerCase();
    return [...this.#living.values()].findLast(({ type }) => type.toLowerCase() === name)?.stack;
  }

  stop(): void {
    this.#hook.disable();
    this.#context.disable();
  }
}

/** What ends by itself, and is made too often to note a place for each. */
const PLAIN: ReadonlySet<string> = new Set([
  'PROMISE',
  'Immediate',
  'TickObject',
  'Microtask',
  'FSREQCALLBACK',
  'FSREQPROMISE',
]);
