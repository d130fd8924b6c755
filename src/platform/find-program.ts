/** Looks for the program of a command as the system would, without running anything. */
import { stat } from 'node:fs/promises';
import { THIS_PLATFORM, type Platform } from './platform.js';

export interface ProgramSearch {
  /** The folder that the program would start in. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: this system. */
  readonly platform?: Platform;
  /** Whether there is a file. Default: asks the file system. */
  readonly isFile?: (path: string) => Promise<boolean>;
}

/** What Windows adds to a command without an ending, unless `PATHEXT` says otherwise. */
const ENDINGS = '.EXE;.CMD;.BAT;.COM';

/** The first file that a command leads to; undefined if there is none. */
export async function findProgram(command: string, search: ProgramSearch): Promise<string | undefined> {
  const { isFile = isThere } = search;
  for (const place of programPlaces(command, search)) if (await isFile(place)) return place;
  return undefined;
}

/** Every path at which the program of a command would be looked for, in this order. */
export function programPlaces(
  command: string,
  { cwd, env, platform = THIS_PLATFORM }: Omit<ProgramSearch, 'isFile'>,
): readonly string[] {
  const { paths, ignoresCase } = platform;
  const folders = isPath(command, platform)
    ? [cwd]
    : [...(ignoresCase ? [cwd] : []), ...(variable('PATH', env, platform) ?? '').split(paths.delimiter)];
  const endings = ignoresCase ? endingsFor(command, env, platform) : [''];
  return folders.flatMap((folder) =>
    endings.map((ending) => paths.resolve(cwd, unquoted(folder), command + ending)),
  );
}

/** Whether a command is the path of a program, which is not looked up in `PATH`. */
export function isPath(command: string, { paths }: Pick<Platform, 'paths'> = THIS_PLATFORM): boolean {
  return command.includes('/') || (paths.sep === '\\' && /\\|^[a-z]:/i.test(command));
}

/** A variable by its name, in any case if the system ignores case. */
export function variable(
  name: string,
  env: ProgramSearch['env'],
  { ignoresCase }: Pick<Platform, 'ignoresCase'> = THIS_PLATFORM,
): string | undefined {
  if (!ignoresCase || env[name] !== undefined) return env[name];
  const key = Object.keys(env).find((each) => each.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}

/** A command may have its ending already. A file without one may be a script with a first line that names its program. */
function endingsFor(command: string, env: ProgramSearch['env'], platform: Platform): readonly string[] {
  const known = (variable('PATHEXT', env, platform) ?? ENDINGS).split(';').filter((ending) => ending !== '');
  const own = platform.paths.extname(command).toUpperCase();
  return known.some((ending) => ending.toUpperCase() === own) ? ['', ...known] : [...known, ''];
}

/** A folder of `PATH` may be in quotes. */
function unquoted(folder: string): string {
  return folder.replace(/^"(.*)"$/, '$1');
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
