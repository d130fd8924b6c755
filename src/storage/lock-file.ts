/**
 * A lock between processes: a file that names its holder. It is created only if there is none, and touched while it is
 * held.
 *
 * The usual package for this (proper-lockfile) is not used: loading it changes the host's process for good. It listens
 * for eighteen signals and replaces `process.emit`, `process.reallyExit`, `process.cwd` and `fs.close`.
 *
 * L1. The lock of a process that has ended is taken over at once on the same machine. Any lock is taken over after
 *     `STALE_MS` without a touch.
 * L2. Only its holder releases a lock: one that was taken over in the meantime stays.
 */
import { randomBytes } from 'node:crypto';
import { link, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import type { Clock } from '../ports.js';
import { pause } from '../async/abort.js';
import { TransportError } from '../failures/transport-error.js';
import { hostname } from 'node:os';
import { replaceFile } from './stored-file.js';

/** A lock without a touch for this long has no holder. */
const STALE_MS = 10_000;
const TOUCH_MS = 2_000;
const POLL_MS = 50;
/** Longer than the requests of a holder may take. */
const PATIENCE_MS = 90_000;

interface LockTerms {
  readonly clock: Clock;
  /** Ends the wait; work that has begun goes on. */
  readonly signal: AbortSignal;
}

/** Runs the work while nobody else holds the lock. Rejects with a `TransportError` if the wait takes too long. */
export async function withLock<T>(path: string, work: () => Promise<T>, terms: LockTerms): Promise<T> {
  const { pid, host } = currentProcess();
  const holder = [pid, host, randomBytes(8).toString('hex')].join(' ');
  await acquire(path, holder, terms);
  const stopTouching = keepFresh(path, terms.clock);
  try {
    return await work();
  } finally {
    stopTouching();
    await release(path, holder);
  }
}

/** A lock that cannot be removed now is stale soon. The work is done, and its outcome counts. */
async function release(path: string, holder: string): Promise<void> {
  try {
    if ((await holderOf(path)) === holder) await rm(path, { force: true, maxRetries: 5 });
  } catch {
    return;
  }
}

async function acquire(path: string, holder: string, { clock, signal }: LockTerms): Promise<void> {
  const giveUpAt = clock.now() + PATIENCE_MS;
  for (;;) {
    signal.throwIfAborted();
    if (await isMade(path, holder)) return;
    if (await isLeftOver(path, clock.now())) continue;
    if (clock.now() >= giveUpAt) throw tooBusy(path);
    await pause(clock, POLL_MS, signal);
  }
}

async function isMade(path: string, holder: string): Promise<boolean> {
  try {
    await writeFile(path, holder, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the lock is gone. Removes it if its holder has exited or it is stale. */
async function isLeftOver(path: string, now: number): Promise<boolean> {
  const holder = await holderOf(path);
  if (holder === undefined) return true;
  const [pid, host = ''] = holder.split(' ');
  if (!hasExited({ pid: Number(pid), host }) && !(await isStale(path, now))) return false;
  const aside = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await replaceFile(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    throw error;
  }
  // Another process may have been faster, and this is its new lock.
  if ((await holderOf(aside)) !== holder) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return true;
}

/** The content of the lock; undefined if there is none. */
async function holderOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function isStale(path: string, now: number): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < now - STALE_MS;
  } catch {
    return false;
  }
}

function keepFresh(path: string, clock: Clock): () => void {
  let timer: unknown;
  const touch = (): void => {
    const now = new Date(clock.now());
    utimes(path, now, now).catch(() => {});
    timer = clock.setTimeout(touch, TOUCH_MS);
  };
  timer = clock.setTimeout(touch, TOUCH_MS);
  return () => clock.clearTimeout(timer);
}

function tooBusy(path: string): TransportError {
  return new TransportError({
    code: 'connection-lost',
    message: 'Another process has held a lock for too long.',
    hint: `If no such process is alive, remove ${path}.`,
  });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Identifies this process for `hasExited`: its number, and the machine that issued the number. */
export const currentProcess = (): { readonly pid: number; readonly host: string } => ({
  pid: process.pid,
  host: hostname(),
});

/**
 * Whether a process has exited, so that the files it left can be removed. False if that is unknown: a number says nothing
 * on another machine, or in another container.
 */
export function hasExited({ pid, host }: { readonly pid: number; readonly host: string }): boolean {
  if (host !== hostname() || !Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
