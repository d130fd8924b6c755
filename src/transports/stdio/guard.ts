/**
 * The end of the servers when the host cannot end them: killed, crashed, or ended by a signal that it does not handle.
 *
 * One small process for all troupes of this host (see `guard-script.ts`) holds a pipe from it and knows the process
 * groups of its servers. When the pipe breaks, it ends them. The host behaves as without a guard: nothing listens to its
 * signals or errors, and its event loop is not kept alive.
 *
 * D1. The guard gets each group in the turn in which the server is spawned. It is spawned right after the first server, which
 *     starts meanwhile, and ends when it is no longer needed.
 * D2. A group is removed from its list when it is proven gone, since its number may then be reused.
 * D3. A guard that died is replaced at the next spawn, and gets every group again. A host that died without a guard leaves
 *     marked servers (`owner-mark.ts`). The next host ends them a moment after its first spawns.
 * D4. Without a guard (no `sh`) servers run all the same; that is reported once. Only a server with a term does not.
 * D5. The guard gets what is left of a term at once, and again at each extension. If it dies, it is replaced at once.
 *
 * Longer than 300 lines because the sweep of what a dead host left is here as well.
 *
 * Not covered: Windows, where the guard does nothing. On other systems than Linux, also helpers that have left the group
 * and lost their parent before the host died, and the sweep.
 */
import { settlesWithin } from '../../async/timers.js';
import { systemClock } from '../../ports.js';
import { THIS_PLATFORM } from '../../platform/platform.js';
import type { RunTerm } from '../run-term.js';
import type { TransportNotice } from '../session-transport.js';
import { isOfDeadHost, ownMark, OWNER_VARIABLE } from './owner-mark.js';
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { GUARD_SCRIPT } from './guard-script.js';
import { reasonOf } from '../../text/error-message.js';
import { readdir, readFile, stat } from 'node:fs/promises';
import { statOf } from './process-table.js';

/** The place of one server with the guard. */
export interface GuardLocation {
  /**
   * From now on this process group ends with the host. With a term, it also ends when that is over, even if the host is
   * frozen; returns false if nobody is there to do that.
   */
  cover(group: number, term?: RunTerm): boolean;
  /** Nothing of the server is left. Resolves when the guard is gone, if it is no longer needed. Idempotent. */
  leave(): Promise<void>;
}

const SWEEP_DELAY_MS = 500;
const GOODBYE_MS = 1_000;

type Report = (notice: TransportNotice) => void;

/** To be called before the server is spawned. The first `report` is called if there is no guard. */
export function guardServer(report: Report): GuardLocation {
  if (!THIS_PLATFORM.hasProcessGroups) return NOWHERE;
  sweepOnce();
  return guard.enter(report);
}

interface Place {
  group?: number;
  term?: RunTerm | undefined;
  unfollow?: (() => void) | undefined;
}

export class Guard {
  readonly #start: StartGuard;
  readonly #places = new Set<Place>();
  #process: GuardProcess | undefined;
  #hasReportedFailure = false;
  #hadTerms = false;

  constructor(start: StartGuard) {
    this.#start = start;
  }

  enter(report: Report): GuardLocation {
    const place: Place = {};
    let left: Promise<void> | undefined;
    this.#places.add(place);
    const tell = (text: string): void => {
      const guard = this.#process;
      guard?.stdin.write(text, (error) => {
        if (error && this.#places.has(place)) this.#replace(guard, report);
      });
    };
    return {
      cover: (group, term) => {
        place.group = group;
        place.term = term;
        place.unfollow = term?.follow(() => tell(limitOf(place)));
        if (this.#process === undefined) this.#process = this.#launch(report);
        else tell(wordsOf(place));
        return this.#process !== undefined;
      },
      leave: () => (left ??= this.#leave(place)),
    };
  }

  #launch(report: Report): GuardProcess | undefined {
    const child = this.#start((error) => this.#reportFailure(error, report));
    child?.once('exit', () => {
      if (this.#process !== child) return;
      this.#process = undefined;
      if (this.#hasTerms) this.#process = this.#launch(report);
    });
    for (const place of this.#places) child?.stdin.write(wordsOf(place));
    return child;
  }

  get #hasTerms(): boolean {
    return [...this.#places].some(({ term }) => term !== undefined);
  }

  /** A write to a dead guard fails before its end is reported. */
  #replace(dead: GuardProcess, report: Report): void {
    if (this.#process === dead) this.#process = undefined;
    this.#process ??= this.#launch(report);
  }

  #reportFailure(error: unknown, report: Report): void {
    if (this.#hasReportedFailure) return;
    this.#hasReportedFailure = true;
    report({
      kind: 'no-guard',
      message: `Servers may outlive a host that is killed: their guard, a shell script, could not be started (${reasonOf(error)}).`,
    });
  }

  async #leave(place: Place): Promise<void> {
    place.unfollow?.();
    this.#places.delete(place);
    if (place.group !== undefined) this.#process?.stdin.write(`- ${place.group}\n`);
    if (place.term !== undefined) this.#hadTerms = true;
    if (this.#places.size === 0) await this.#end();
  }

  /**
   * Uses SIGKILL: a guard without a list has nothing to lose, and this reaches it in any state. If there were limits, it first
   * ends what waits for them.
   */
  async #end(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    child.ref();
    const isGone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    if (this.#hadTerms) {
      child.stdin.end('.\n');
      await settlesWithin(systemClock, GOODBYE_MS, isGone);
    }
    child.kill('SIGKILL');
    child.stdin.destroy();
    await isGone;
  }
}

/** What the guard is to know of a place. */
function wordsOf(place: Place): string {
  return place.group === undefined ? '' : `+ ${place.group}\n${limitOf(place)}`;
}

function limitOf({ group, term }: Place): string {
  return term === undefined ? '' : `~ ${group} ${(Math.max(0, term.leftMs()) / 1_000).toFixed(3)}\n`;
}

/** Without process groups there is no guard, and servers with a term run all the same (docs/guide/fleet.md). */
const NOWHERE: GuardLocation = { cover: () => true, leave: () => Promise.resolve() };
const guard = new Guard((onFailure) => startGuard(ownMark(), onFailure));
let hasSwept = false;
let nextSweep: NodeJS.Timeout | undefined;

/** Looks for the servers of dead hosts once, when no server has been started for a moment: the search reads every process. */
function sweepOnce(): void {
  if (hasSwept) return;
  if (nextSweep !== undefined) return void nextSweep.refresh();
  nextSweep = setTimeout(() => {
    hasSwept = true;
    void sweep(isOfDeadHost, endMarked);
  }, SWEEP_DELAY_MS).unref();
}

/** A guard that runs until its `stdin` is closed. That pipe is closed on exec: no server can inherit it. */
export interface GuardProcess extends ChildProcess {
  readonly stdin: Writable & Partial<Pick<Socket, 'unref'>>;
}

/** @param onFailure Called with the reason if undefined is returned, at once or a moment later. */
type StartGuard = (onFailure: (error: unknown) => void) => GuardProcess | undefined;

export function startGuard(
  mark: string | undefined,
  onFailure: (error: unknown) => void,
): GuardProcess | undefined {
  const child = started(mark, onFailure);
  if (child === undefined) return undefined;
  if (child.pid === undefined) {
    child.on('error', onFailure);
    // There is no pipe if no file descriptor was left for it.
    (child as Partial<GuardProcess>).stdin?.destroy();
    return undefined;
  }
  // A later error is from a `kill`: the closed pipe ends the guard all the same.
  child.on('error', ignore);
  child.stdin.on('error', ignore);
  // Bun's pipes have no `unref`, and do not keep the host running.
  child.stdin.unref?.();
  return child;
}

function started(mark: string | undefined, onFailure: (error: unknown) => void): GuardProcess | undefined {
  try {
    return run('troupe-guard', mark, 'pipe') as GuardProcess;
  } catch (error) {
    onFailure(error);
    return undefined;
  }
}

/** Ends every process that carries the mark, and its descendants. It takes a second. */
export function endMarked(mark: string): void {
  run('troupe-sweep', mark, 'ignore').on('error', ignore);
}

/**
 * Starts the shell that runs the guard's script. It has its own session, which no terminal reaches, holds no directory, gets
 * only the search path of the host's variables, and does not keep the host running.
 */
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

/** Each use of the guard checks whether it lives. */
function ignore(): void {
  return;
}

// Finds the servers of hosts that died together with their guard, by their marks. Works only if marks can be read (Linux).
// `owner-mark.ts` decides whether a host is dead, and `guard.ts` ends its servers.
//
// Only processes of this user count: anyone can make up the mark of a dead host.
//
// A mark that this process or one of its ancestors carries is skipped: a process that a left-over server started would
// otherwise end itself.

const PREFIX = `${OWNER_VARIABLE}=`;

/**
 * Reads one environment after the other, so that a start at the same time is not delayed. Never rejects.
 *
 * @param isOrphaned Called once for every mark that is found.
 * @param end Called for every orphaned mark.
 */
export async function sweep(
  isOrphaned: (mark: string) => boolean,
  end: (mark: string) => void,
): Promise<void> {
  const own = ownMark();
  if (own === undefined) return;
  try {
    const settled = new Set([own, ...(await marksOfForebears())]);
    for (const pid of (await readdir('/proc')).map(Number)) {
      const isOurs = standsForItsGroup(pid) && (await isOfThisUser(pid));
      const mark = isOurs ? await markOf(pid) : undefined;
      if (mark === undefined || settled.has(mark)) continue;
      settled.add(mark);
      if (isOrphaned(mark)) end(mark);
    }
  } catch {
    return;
  }
}

/** Of this process and its ancestors. */
async function marksOfForebears(): Promise<string[]> {
  const marks: string[] = [];
  for (let pid = process.pid; pid > 0; pid = statOf(pid)?.parent ?? 0) {
    const mark = await markOf(pid);
    if (mark !== undefined) marks.push(mark);
  }
  return marks;
}

/** Every server leads its group. If the leader of a group is gone, each member is checked. Kernel threads have no group. */
function standsForItsGroup(pid: number): boolean {
  const stat = Number.isNaN(pid) ? undefined : statOf(pid);
  if (stat === undefined || !stat.isLiving || stat.group === 0) return false;
  return stat.group === pid || statOf(stat.group)?.isLiving !== true;
}

async function isOfThisUser(pid: number): Promise<boolean> {
  const found = await stat(`/proc/${pid}`).catch(() => undefined);
  return found !== undefined && found.uid === process.geteuid?.();
}

/** Undefined for a process that has ended, belongs to someone else, or carries no mark. */
async function markOf(pid: number): Promise<string | undefined> {
  try {
    const variables = await readFile(`/proc/${pid}/environ`, 'latin1');
    return variables
      .split('\0')
      .find((variable) => variable.startsWith(PREFIX))
      ?.slice(PREFIX.length);
  } catch {
    return undefined;
  }
}
