/**
 * Where the background process of a configuration listens, and where its log is. The place follows from what decides the
 * configuration: the user, the working folder, and the files and servers on the command line.
 *
 * P1. Only its user can reach the socket: a socket file of the user in a folder of mode 0700 of the user. Both are checked
 *     before they are used, and neither may be a link.
 * P2. The path of a socket fits everywhere: systems allow 103 bytes.
 * P3. A named pipe of Windows has no owner that could be checked, so its name holds a secret of the user.
 */
import { createHash } from 'node:crypto';
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { THIS_PLATFORM } from '../../platform/platform.js';
import { userFolder } from '../../storage/folders.js';
import { isAbsence } from '../../storage/stored-file.js';
import type { Flags } from '../arguments/flags.js';

export interface Place {
  /** The folder of the socket. */
  readonly folder: string;
  /** The path of the socket, or the name of the pipe. */
  readonly address: string;
  /** Held while a process claims the address. */
  readonly lock: string;
  /** The file with the log. */
  readonly log: string;
}

const LONGEST_ADDRESS = 103;
const ID_CHARACTERS = 20;
const FOR_OTHERS = 0o077;

/** Rejects if the user has no folders. */
export async function placeOf(
  flags: Pick<Flags, 'config' | 'add' | 'discover'>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Place> {
  const state = join(await userFolder('log'), 'background');
  const id = digest(JSON.stringify(decidingFacts(flags)));
  const log = join(state, `${id}.log`);
  if (!THIS_PLATFORM.hasFileModes) {
    const { keptToken } = await import('../gateway-token.js');
    const { userStore } = await import('../../config/files/user-store.js');
    await userStore('log', 'background')();
    const { token } = await keptToken(state, 'background-key');
    return {
      folder: state,
      address: `\\\\.\\pipe\\troupe-${digest(`${token} ${id}`)}`,
      lock: join(state, `${id}.lock`),
      log,
    };
  }
  const folder = folderOf(state, `${id}.sock`, env);
  return { folder, address: join(folder, `${id}.sock`), lock: join(folder, `${id}.lock`), log };
}

/** Rejects with a `ConfigError` if one of the folders is inside the project: whoever wrote it could supply what is in them. */
export async function requireOutsideProject(
  { folder }: Place,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const { storeInVariable, userStore } = await import('../../config/files/user-store.js');
  await userStore('log', 'background')();
  if (folder.startsWith(`${env['XDG_RUNTIME_DIR']}/`)) await storeInVariable('XDG_RUNTIME_DIR', folder)();
}

/** The runtime folder of the session of the user, else the state folder; if its path is too long, the temporary folder. */
function folderOf(state: string, name: string, { XDG_RUNTIME_DIR: runtime = '' }: NodeJS.ProcessEnv): string {
  const fits = (folder: string): boolean => Buffer.byteLength(join(folder, name)) <= LONGEST_ADDRESS;
  const wanted = isAbsolute(runtime) ? join(runtime, 'troupe') : state;
  return fits(wanted) ? wanted : join(tmpdir(), `troupe-${process.getuid?.() ?? ''}`);
}

/** A working folder that was removed and made again is another one. */
function decidingFacts({ config, add, discover }: Pick<Flags, 'config' | 'add' | 'discover'>): unknown {
  const cwd = process.cwd();
  const { dev, ino } = statSync(cwd);
  return [
    process.getuid?.(),
    realOf(cwd),
    dev,
    ino,
    config.map(realOf),
    add,
    discover ?? config.length === 0,
  ];
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, ID_CHARACTERS);
}

/** Why the socket must not be used; `absent` if there is none. Undefined if it may be used. */
export function whyUnusable({ folder, address }: Place): string | undefined {
  if (!THIS_PLATFORM.hasFileModes) return undefined;
  try {
    const socket = lstatSync(address);
    const why = whyNotPrivate(folder);
    if (why !== undefined) return why;
    return socket.isSocket() && isOurs(socket) ? undefined : `${address} is not a socket of this user`;
  } catch (error) {
    if (isAbsence(error)) return 'absent';
    return `${address} cannot be examined (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** Why the folder is not private; undefined if it is. */
export function whyNotPrivate(folder: string): string | undefined {
  const stats = lstatSync(folder);
  if (!THIS_PLATFORM.hasFileModes) return undefined;
  if (!stats.isDirectory() || !isOurs(stats)) return `${folder} is not a folder of this user`;
  return (stats.mode & FOR_OTHERS) === 0
    ? undefined
    : `others can use ${folder}; if it is yours: chmod 700 '${folder}'`;
}

function isOurs({ uid }: { readonly uid: number }): boolean {
  return process.getuid === undefined || uid === process.getuid();
}
