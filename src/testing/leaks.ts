/**
 * Finds what was left behind since a moment: a living process, a socket, a timer, a file descriptor, or a listener on
 * `process`.
 *
 * A process counts as left behind when it descends from this one, when a process started here led its group, or when
 * its environment carries the mark that is handed down. The mark is an `LC_` variable, because those pass the short
 * allow-list of every server's environment: so it also finds the orphan of an orphan. Zombies are dead.
 *
 * What only needs a moment to end gets one; timers that are `unref`ed are not seen. What has no name of its own, such as a
 * timer, is counted, so that one that ends may hide one that is left; `expectNoLeaks` tells timers apart.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { cutText } from '../cut-text.js';
import { descendantsOf, readProcesses } from '../transports/stdio/process-table.js';
import { RunTimers } from './run-timers.js';

export interface LeakTracker {
  /** What is there now and was not there before, in words; what is about to end gets its time first. */
  whatIsLeft(): Promise<readonly string[]>;
  /** Rejects with that list where it is not empty. */
  expectNone(): Promise<void>;
  /** Watches no longer; to be called where nobody asked. */
  stop(): void;
}

export interface LeakCheckOptions {
  /** How long what is about to end may take. Default 3,000 ms. */
  readonly settleMs?: number;
}

const MARK_NAME = 'LC_TROUPE_LEAK_MARK';
const MARK = `${process.pid}-${Date.now()}`;
const POLL_MS = 20;
/** Of a command. */
const MOST_CHARACTERS = 200;
/** Turns of the event loop and the reading of a directory, not things a test can leave behind. */
const PASSING_RESOURCES = new Set(['Immediate', 'FSReqCallback', 'FSReqPromise']);
/** Of the event loop itself, which opens them with its first stream, watcher and file, and keeps them. */
const LASTING_DESCRIPTORS = new Set(['/dev/null', 'anon_inode:inotify', 'anon_inode:[io_uring]']);
const TIMER = 'active resource: Timeout';

/**
 * Runs something, and rejects where it leaves anything behind; gives what it gave. What it throws comes first. Rejects with
 * a `TypeError` for what is no function.
 *
 *     await expectNoLeaks(async () => {
 *       await using troupe = createTroupe({ config: '.mcp.json' });
 *       await troupe.start();
 *     });
 */
export async function expectNoLeaks<T>(
  run: () => Promise<T> | T,
  options: LeakCheckOptions = {},
): Promise<T> {
  if (typeof run !== 'function') throw new TypeError('expectNoLeaks takes a function, and runs it.');
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

/** Remembers what there is now; `expectNone` compares. */
export function trackLeaks(options: LeakCheckOptions = {}): LeakTracker {
  return track(options, () => 0);
}

/** At least so many timers as `timersLeft` tells are there that were not before. */
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
    const found = newSince(before, whatThereIs(spawned.flatMap(({ pid }) => pid ?? [])));
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

/** The runtime opens them when they are first needed, and keeps them. */
function openStdio(): readonly unknown[] {
  return [process.stdout, process.stderr];
}

/** Everything that could be left behind, as words; the same words twice are two things. */
function whatThereIs(groups: readonly number[]): string[] {
  return [...processes(groups), ...resources(), ...fileDescriptors(), ...listeners()];
}

function newSince(before: readonly string[], now: readonly string[]): string[] {
  const known = [...before];
  return now.filter((thing) => {
    const at = known.indexOf(thing);
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
}

function processes(groups: readonly number[]): string[] {
  const table = readProcesses() ?? [];
  const ours = new Set(descendantsOf([process.pid, ...groups], table).map(({ pid }) => pid));
  return table
    .filter(
      ({ pid, group }) => pid !== process.pid && (ours.has(pid) || groups.includes(group) || isMarked(pid)),
    )
    .map(({ pid }) => `process ${pid}: ${commandOf(pid)}`);
}

/** On one line: a command may be a whole program. */
function commandOf(pid: number): string {
  return cutText(
    readProc(pid, 'cmdline')
      .replaceAll(/[\0\s]+/g, ' ')
      .trim(),
    MOST_CHARACTERS,
  );
}

const isMarked = (pid: number): boolean => readProc(pid, 'environ').includes(`${MARK_NAME}=${MARK}`);

/** Empty for a process that has ended or belongs to somebody else. */
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

/** The descriptor that lists the directory is closed again by the time it is looked at. */
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
