/**
 * Lets other processes of the same user find running inspections: a file for each, in a folder that only the user can
 * read.
 *
 * G1. The files hold the token, so nobody else may read them: mode 0600 from the first byte, in a folder of mode 0700
 *     that belongs to the user. If that is impossible, there are no files.
 * G2. A browser opens a file that redirects to the page, because everybody can see the arguments of a program.
 * G3. The next process that looks removes the files of a killed process. A process that is too busy to answer counts as
 *     alive.
 */
import { chmod, lstat, readdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { isAbsolute, join } from 'node:path';
import { storeInVariable, userStore } from '../config/files/user-store.js';
import { parseJson } from '../json/parse-json.js';
import { THIS_PLATFORM } from '../platform/platform.js';
import { makeFolder } from '../storage/folders.js';
import { writeFileAtomic } from '../storage/stored-file.js';
import { INSPECTION_PATHS } from './page-protocol.js';

export interface RegisteredInspection {
  readonly pid: number;
  /** The address of the page, with its token. */
  readonly url: string;
  /** The title of the page, for a person to choose by. */
  readonly title: string;
  readonly mode: 'live' | 'file';
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface FoundInspection extends RegisteredInspection {
  /** The file that redirects to the page. */
  readonly door: string;
}

export interface Registration {
  readonly door: string;
  /** Removes it; never rejects. */
  remove(): Promise<void>;
}

/** The version of the format, the only one that is read. */
const FORMAT = 1;
const RUNTIME_VARIABLE = 'XDG_RUNTIME_DIR';
const FILE = /^([1-9]\d*)\.json$/;
const ADDRESS = /^http:\/\/127\.0\.0\.1:\d{1,5}\/#[\w-]{20,100}$/;
const LARGEST = 64 * 1_024;
/** Maximum time for a running inspection to answer, milliseconds. */
const PROBE_MS = 2_000;
/** Status codes of an inspection; the second one if it is busy. */
const OURS: ReadonlySet<number | undefined> = new Set([200, 503]);
const FOR_OTHERS = 0o077;

/**
 * The folder of this user: in the runtime folder, which is removed with the user's session, else in a folder of the user
 * that no report of the system collects, as it does the logs on macOS.
 */
export async function inspectionFolder(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const runtime = env[RUNTIME_VARIABLE] ?? '';
  const folder = isAbsolute(runtime)
    ? storeInVariable(RUNTIME_VARIABLE, join(runtime, 'troupe'))
    : userStore(THIS_PLATFORM.privateFolder, 'inspections');
  return folder();
}

/** Rejects if the folder cannot be created, or is accessible to others. */
export async function registerInspection(
  inspection: RegisteredInspection,
  folder: string,
): Promise<Registration> {
  makeFolder(folder);
  const stats = await lstat(folder);
  if (!stats.isDirectory() || !isOurs(stats)) throw new Error(`'${folder}' is not this user's own folder`);
  if ((stats.mode & FOR_OTHERS) !== 0) await chmod(folder, 0o700);
  const [file, door] = filesOf(folder, inspection.pid);
  await writeFileAtomic(door, leadingTo(inspection.url));
  await writeFileAtomic(file, JSON.stringify({ troupeInspection: FORMAT, ...inspection }));
  return { door, remove: () => removeAll([file, door]) };
}

/** The running inspections, the newest first. Removes the files of others. */
export async function runningInspections(folder: string): Promise<readonly FoundInspection[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(names.map((name) => lookAt(folder, name)));
  return found.flatMap((one) => one ?? []).toSorted((a, b) => b.startedAt - a.startedAt);
}

async function lookAt(folder: string, name: string): Promise<FoundInspection | undefined> {
  const pid = Number(FILE.exec(name)?.[1] ?? NaN);
  if (Number.isNaN(pid)) return undefined;
  const files = filesOf(folder, pid);
  const inspection = await readRegistration(files[0]).catch(() => undefined);
  if (inspection === undefined || inspection.pid !== pid) return undefined;
  const answer = isAlive(pid) ? await whoAnswers(inspection.url) : 'another';
  if (answer === 'another') await removeAll(files);
  return answer === 'it' ? { ...inspection, door: files[1] } : undefined;
}

/** Undefined if it is not a registration, or if someone else may have written it. */
async function readRegistration(file: string): Promise<RegisteredInspection | undefined> {
  const stats = await lstat(file);
  const isPrivate = !THIS_PLATFORM.hasFileModes || (stats.mode & FOR_OTHERS) === 0;
  if (!stats.isFile() || !isOurs(stats) || !isPrivate || stats.size > LARGEST) return undefined;
  const value = parseJson(await readFile(file, 'utf8')) as
    Partial<Record<string, unknown>> | null | undefined;
  const { troupeInspection, pid, url, title, mode, startedAt } = value ?? {};
  if (troupeInspection !== FORMAT || !Number.isSafeInteger(pid) || !Number.isFinite(startedAt))
    return undefined;
  if (typeof url !== 'string' || !ADDRESS.test(url) || typeof title !== 'string') return undefined;
  if (mode !== 'live' && mode !== 'file') return undefined;
  return { pid: pid as number, url, title, mode, startedAt: startedAt as number };
}

function filesOf(folder: string, pid: number): readonly [file: string, door: string] {
  return [join(folder, `${pid}.json`), join(folder, `${pid}.html`)];
}

async function removeAll(files: readonly string[]): Promise<void> {
  await Promise.allSettled(files.map((file) => rm(file, { force: true })));
}

function isOurs({ uid }: { readonly uid: number }): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Another process may have the process id by now, and another program the port. */
function whoAnswers(url: string): Promise<'it' | 'another' | 'nobody'> {
  const { hostname, port, hash } = new URL(url);
  return new Promise((resolve) => {
    const asking = request({
      hostname,
      port,
      path: INSPECTION_PATHS.stream,
      method: 'HEAD',
      agent: false,
      timeout: PROBE_MS,
      headers: { authorization: `Bearer ${hash.slice(1)}` },
    });
    asking.on('response', (response) => {
      response.resume();
      resolve(OURS.has(response.statusCode) ? 'it' : 'another');
    });
    // It accepted the request and is busy.
    asking.on('timeout', () => {
      resolve('it');
      asking.destroy();
    });
    asking.on('error', (error) => resolve(whoFailed(error)));
    asking.end();
  });
}

/** A server with too many connections resets the next one. */
function whoFailed({ code = '' }: NodeJS.ErrnoException): 'it' | 'another' | 'nobody' {
  if (code === 'ECONNREFUSED') return 'nobody';
  const isNoHttp = code.startsWith('HPE_');
  return isNoHttp ? 'another' : 'it';
}

function leadingTo(url: string): string {
  return (
    '<!doctype html><meta charset="utf-8"><title>Troupe</title><meta name="referrer" content="no-referrer">' +
    `<meta http-equiv="refresh" content="0; url=${url}"><p><a href="${url}">Troupe</a></p>`
  );
}
