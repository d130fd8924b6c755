/**
 * Starts the process of a server, and says what is wrong if that fails.
 *
 * Node's `spawn` reports a missing command and a missing working directory alike (ENOENT). It emits some errors and throws
 * others. Messages name the command and the directory, never an argument or a variable.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { RawFailure } from '../../failures/transport-error.js';
import { findProgram, isPath, variable } from '../../platform/find-program.js';
import { THIS_PLATFORM, type Platform } from '../../platform/platform.js';
import { OWNER_VARIABLE, SESSION_VARIABLE, type SessionMark } from './owner-mark.js';
import { codeOf, reasonOf } from '../../text/error-message.js';

export interface SpawnSpec {
  readonly command: string;
  readonly args?: readonly string[];
  /** The complete environment of the child, except its marks (`owner-mark.ts`). */
  readonly env: Readonly<Record<string, string>>;
  /** Default: the host's working directory. */
  readonly cwd?: string;
}

const NOT_IN_PATH = 'Is it installed, and in a directory of the PATH that the server gets?';
const FROM_DESKTOP =
  "Programs that are started from the desktop get a short PATH, without Homebrew and nvm: write the whole path of the command, or set PATH in 'env'.";
const ONE_NAME =
  "The whole text is read as the name of one program. Put each argument into 'args' as a separate item.";
const TOO_LONG = 'Its arguments and variables are longer than the system allows.';
const AT_A_LIMIT: Readonly<Record<string, string>> = {
  E2BIG: TOO_LONG,
  // On Windows.
  ENAMETOOLONG: TOO_LONG,
  EMFILE: 'The host has reached its limit of open files.',
  ENFILE: 'The system has reached its limit of open files.',
  EAGAIN: 'The system has reached its limit of processes.',
  ENOMEM: 'The system has no memory left for it.',
};

/** On Windows a command is usually a `.cmd` shim, which only a shell can run: cross-spawn does that, and loads only there. */
export async function loadSpawn(): Promise<typeof spawn> {
  if (THIS_PLATFORM.hasProcessGroups) return spawn;
  const { default: crossSpawn } = await import('cross-spawn');
  return crossSpawn.spawn;
}

/** The child leads its own process group (POSIX), so that a signal can reach all of it and the host's Ctrl-C does not. */
export function spawnServer(
  spawnProcess: typeof spawn,
  spec: SpawnSpec,
  mark: SessionMark | undefined,
): ChildProcess {
  return spawnProcess(spec.command, [...(spec.args ?? [])], {
    cwd: spec.cwd,
    env: markedEnvironment(spec.env, mark),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: THIS_PLATFORM.hasProcessGroups,
    windowsHide: true,
  });
}

/**
 * The error that `spawn` of POSIX would report for a missing command. Windows starts a shell, which ends with a code that any
 * program can end with. Undefined if the command is found.
 */
export async function missingCommand(
  spec: SpawnSpec,
  platform: Platform,
  isFile?: (path: string) => Promise<boolean>,
): Promise<NodeJS.ErrnoException | undefined> {
  const { command, env, cwd = process.cwd() } = spec;
  const found = await findProgram(command, { cwd, env, platform, ...(isFile !== undefined && { isFile }) });
  return found === undefined ? Object.assign(new Error('not found'), { code: 'ENOENT' }) : undefined;
}

/** Replaces the marks of this process, which may itself be the server of another host. */
export function markedEnvironment(
  { [OWNER_VARIABLE]: _owner, [SESSION_VARIABLE]: _session, ...env }: SpawnSpec['env'],
  mark?: SessionMark,
): Record<string, string> {
  return { ...env, ...mark };
}

/** Resolves when the process runs. If it does not, rejects with Node's error and leaves no pipe. */
export function hasSpawned(child: ChildProcess): Promise<void> {
  return new Promise((done, failed) => {
    const fail = (error: Error): void => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      failed(error);
    };
    child.once('error', fail);
    child.once('spawn', () => {
      child.off('error', fail);
      done();
    });
  });
}

/** The failure of a `spawn`, with what a person can do about it. */
export async function spawnFailure(
  error: unknown,
  spec: SpawnSpec,
  platform = THIS_PLATFORM,
): Promise<RawFailure> {
  const code = reasonOf(error);
  const cwdProblem = spec.cwd === undefined ? undefined : await problemOfCwd(spec.cwd);
  if (cwdProblem !== undefined) {
    return { code: 'cwd-not-found', message: `The working directory '${spec.cwd}' ${cwdProblem}.` };
  }
  const command = `The command '${spec.command}'`;
  if (code === 'ENOENT' && platform.hasProcessGroups && (await isThere(spec))) {
    return {
      code: 'command-not-executable',
      message: `${command} exists, but the interpreter it names in its first line does not.`,
    };
  }
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return {
      code: 'command-not-found',
      message: `${command} was not found.`,
      hint: await whereToLook(spec, platform),
    };
  }
  if (code === 'EACCES') {
    return {
      code: 'command-not-executable',
      message: `${command} may not be executed (EACCES).`,
      hint: 'Make the file executable, or run it through its interpreter.',
    };
  }
  const message = `${command} could not be started (${code}).`;
  const hint = AT_A_LIMIT[code];
  return { code: 'spawn-failed', message, ...(hint === undefined ? {} : { hint }) };
}

async function whereToLook(spec: SpawnSpec, platform: Platform): Promise<string> {
  const { command, cwd = '.', env } = spec;
  if (await hasArguments(spec)) return ONE_NAME;
  if (isPath(command, platform)) {
    return `It contains a ${platform.paths.sep === '/' ? 'slash' : 'backslash or a slash'}, so it is read as a path: ${platform.paths.resolve(cwd, command)}`;
  }
  const isShort =
    platform.desktopPath !== undefined && variable('PATH', env, platform) === platform.desktopPath;
  return isShort ? `${NOT_IN_PATH} ${FROM_DESKTOP}` : NOT_IN_PATH;
}

/** A path may contain spaces: then its first word is not the path of a program. */
async function hasArguments({ command, ...spec }: SpawnSpec): Promise<boolean> {
  const [program = '', more] = command.trim().split(/\s+/);
  return more !== undefined && (!isPath(program) || (await isThere({ ...spec, command: program })));
}

async function problemOfCwd(cwd: string): Promise<string | undefined> {
  try {
    if (!(await stat(cwd)).isDirectory()) return 'is not a directory';
    await access(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) === 'EACCES' ? 'may not be entered' : 'does not exist';
  }
}

async function isThere({ command, cwd = '.' }: SpawnSpec): Promise<boolean> {
  if (!isPath(command)) return false;
  return access(resolve(cwd, command)).then(
    () => true,
    () => false,
  );
}
